"""The figures that run on Spark, one of each paper, by name."""

from experiments.outcome import Figure
from experiments.spark.grub import figure_13
from experiments.spark.kang import figure_9
from experiments.spark.mjoin import figure_15
from experiments.spark.order import figure_7
from experiments.spark.share import figure_8

FIGURES: dict[str, Figure] = {
    "kang-9": figure_9,
    "order-7": figure_7,
    "mjoin-15": figure_15,
    "grub-13": figure_13,
    "share-8": figure_8,
}
