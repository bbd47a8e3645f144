-- Places that are hot and wet within a minute, readings of a place that lack their humidity, and sudden heat.
CREATE STREAM Temperature (
    location STRING,
    value DOUBLE,
    ts TIMESTAMP,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (format = 'parquet', path = 'in/temperature');

CREATE STREAM Humidity (
    location STRING,
    value DOUBLE,
    ts TIMESTAMP,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (format = 'parquet', path = 'in/humidity');

CREATE SINK alarms WITH (format = 'parquet', path = 'out/alarms', checkpoint = 'out/alarms.checkpoint');

INSERT INTO alarms
SELECT T.location, T.value AS temperature, H.value AS humidity
FROM Temperature T, Humidity H
WHERE T.location = H.location AND T.value > 40 AND H.value > 80
WINDOW 1 MINUTE;

INSERT INTO lonely WITH (format = 'json', path = 'out/lonely', checkpoint = 'out/lonely.checkpoint')
SELECT T.location, T.ts
FROM Temperature T LEFT ANTI JOIN Humidity H ON T.location = H.location
WINDOW 10 SECONDS;

INSERT INTO sudden WITH (format = 'csv', path = 'out/sudden', checkpoint = 'out/sudden.checkpoint')
SELECT T.location, T.value AS temperature
FROM Temperature T, Humidity H
WHERE T.location = H.location AND T.value > 60
WINDOW 1 SECOND;
