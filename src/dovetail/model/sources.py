"""The sources that Dovetail reads itself."""

from dovetail.model.files import Files
from dovetail.model.kafka import Kafka

Source = Files | Kafka
