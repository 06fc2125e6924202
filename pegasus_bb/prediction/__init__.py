"""What a run would take: the cost model."""

from pegasus_bb.prediction.cost import (
    Prediction,
    awaited,
    corrected,
    predict_off,
    predict_shared,
    predict_transient,
)
from pegasus_bb.prediction.load import Load, Workload, workload
from pegasus_bb.prediction.predicted import ALIKE, Choice, Compared, Predicted, choose

__all__ = [
    "ALIKE",
    "Choice",
    "Compared",
    "Load",
    "Predicted",
    "Prediction",
    "Workload",
    "awaited",
    "choose",
    "corrected",
    "predict_off",
    "predict_shared",
    "predict_transient",
    "workload",
]
