"""Between Spark's types and Arrow's, for whole schemas; column names pass through untouched.

    StructType([ts timestamp, v array<decimal(9,2)>])  <->  schema(ts: timestamp[us, UTC], v: list<decimal128(9, 2)>)

Spark's ``timestamp`` is an instant and becomes microseconds in the session's zone, in which a time without an offset
beside it is read; ``timestamp_ntz`` has no zone and keeps none. The collation of a text is noted beside its type. On
the way out, types that Spark does not have (unsigned integers, large strings, fixed-size lists, ...) become the
smallest Spark type that holds every value.
"""

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame, functions
from pyspark.sql import types as spark

from dovetail.errors import StreamError
from dovetail.model.collation import BY_BYTES, as_metadata

_SIMPLE: dict[type[spark.DataType], pa.DataType] = {
    spark.BooleanType: pa.bool_(),
    spark.ByteType: pa.int8(),
    spark.ShortType: pa.int16(),
    spark.IntegerType: pa.int32(),
    spark.LongType: pa.int64(),
    spark.FloatType: pa.float32(),
    spark.DoubleType: pa.float64(),
    spark.StringType: pa.string(),
    spark.VarcharType: pa.string(),
    spark.CharType: pa.string(),
    spark.BinaryType: pa.binary(),
    spark.DateType: pa.date32(),
    spark.TimestampNTZType: pa.timestamp("us"),
    spark.DayTimeIntervalType: pa.duration("us"),
    spark.NullType: pa.null(),
}


def arrow_schema(schema: spark.StructType, zone: str = "UTC") -> pa.Schema:
    """The Arrow schema of a DataFrame, times in the session's zone; StreamError names a column Arrow cannot carry."""
    return pa.schema([_column(field, zone) for field in schema.fields])


def _column(field: spark.StructField, zone: str) -> pa.Field:
    collation = getattr(field.dataType, "collation", BY_BYTES)
    return pa.field(field.name, _column_type(field, zone), field.nullable, as_metadata(collation))


def _column_type(field: spark.StructField, zone: str) -> pa.DataType:
    try:
        return arrow_type(field.dataType, zone)
    except KeyError as missing:
        raise StreamError(
            f"column {field.name!r} has the type {field.dataType.simpleString()}, and {missing.args[0]} cannot be "
            "handed over as Arrow; cast it, or leave the column out with DataFrame.drop"
        ) from missing


def arrow_type(type_: spark.DataType, zone: str = "UTC") -> pa.DataType:
    """KeyError with the name of the offending type if there is no such Arrow type."""
    if isinstance(type_, spark.DecimalType):
        return pa.decimal128(type_.precision, type_.scale)
    if isinstance(type_, spark.ArrayType):
        return pa.list_(pa.field("element", arrow_type(type_.elementType, zone), type_.containsNull))
    if isinstance(type_, spark.MapType):
        value = pa.field("value", arrow_type(type_.valueType, zone), type_.valueContainsNull)
        return pa.map_(pa.field("key", arrow_type(type_.keyType, zone), nullable=False), value)
    if isinstance(type_, spark.StructType):
        inner = [(field.name, arrow_type(field.dataType, zone), field.nullable) for field in type_.fields]
        return pa.struct([pa.field(*each) for each in inner])
    if isinstance(type_, spark.TimestampType):
        return pa.timestamp("us", tz=zone)
    if type(type_) not in _SIMPLE:
        raise KeyError(type_.simpleString())
    return _SIMPLE[type(type_)]


def spark_schema(schema: pa.Schema) -> spark.StructType:
    """The Spark schema of a result; every column may be NULL."""
    return spark.StructType([spark.StructField(field.name, spark_type(field.type), True) for field in schema])


def spark_type(type_: pa.DataType) -> spark.DataType:
    """The smallest Spark type that holds every value of an Arrow type."""
    for matches, build in _BUILDERS:
        if matches(type_):
            return build(type_)
    raise StreamError(f"Spark has no type for Arrow's {type_}; cast the column in the select list")


_is, _t = pa.types, spark
_BUILDERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], spark.DataType]], ...] = (
    (_is.is_dictionary, lambda t: spark_type(t.value_type)),
    (_is.is_boolean, lambda t: _t.BooleanType()),
    (_is.is_int8, lambda t: _t.ByteType()),
    (lambda t: _is.is_int16(t) or _is.is_uint8(t), lambda t: _t.ShortType()),
    (lambda t: _is.is_int32(t) or _is.is_uint16(t), lambda t: _t.IntegerType()),
    (lambda t: _is.is_int64(t) or _is.is_uint32(t), lambda t: _t.LongType()),
    (_is.is_uint64, lambda t: _t.DecimalType(20, 0)),
    (lambda t: _is.is_float16(t) or _is.is_float32(t), lambda t: _t.FloatType()),
    (_is.is_float64, lambda t: _t.DoubleType()),
    (lambda t: _is.is_string(t) or _is.is_large_string(t) or _is.is_string_view(t), lambda t: _t.StringType()),
    (
        lambda t: _is.is_binary(t) or _is.is_large_binary(t) or _is.is_fixed_size_binary(t) or _is.is_binary_view(t),
        lambda t: _t.BinaryType(),
    ),
    (lambda t: _is.is_date(t), lambda t: _t.DateType()),
    (_is.is_timestamp, lambda t: _t.TimestampType() if t.tz else _t.TimestampNTZType()),
    (_is.is_duration, lambda t: _t.DayTimeIntervalType()),
    (_is.is_decimal, lambda t: _t.DecimalType(t.precision, t.scale)),
    (_is.is_null, lambda t: _t.NullType()),
    (_is.is_map, lambda t: _t.MapType(spark_type(t.key_type), spark_type(t.item_type), True)),
    (
        lambda t: _is.is_list(t) or _is.is_large_list(t) or _is.is_fixed_size_list(t) or _is.is_list_view(t),
        lambda t: _t.ArrayType(spark_type(t.value_type), True),
    ),
    (_is.is_struct, lambda t: _t.StructType([_t.StructField(f.name, spark_type(f.type), True) for f in t])),
)


def quoted(name: str) -> str:
    """A column's name as Spark reads it, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


def holds_binary(type_: pa.DataType) -> bool:
    """Whether values are bytes of any length, or have such inside."""
    inside = (type_.field(at).type for at in range(type_.num_fields))
    return pa.types.is_binary(type_) or pa.types.is_large_binary(type_) or any(map(holds_binary, inside))


def with_time(frame: DataFrame, name: str, time_us: int) -> DataFrame:
    """The rows with one more column, which has this time in all of them."""
    return frame.withColumn(name, functions.timestamp_micros(functions.lit(time_us)))
