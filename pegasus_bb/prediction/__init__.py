"""What a run would take: the cost model."""

from pegasus_bb.prediction.choice import ALIKE, Choice, choose
from pegasus_bb.prediction.cost import (
    Prediction,
    awaited,
    corrected,
    predict_hybrid,
    predict_off,
    predict_persistent,
    predict_transient,
)
from pegasus_bb.prediction.load import Load, Workload, workload
from pegasus_bb.prediction.predicted import Compared, Predicted

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
    "predict_hybrid",
    "predict_off",
    "predict_persistent",
    "predict_transient",
    "workload",
]
