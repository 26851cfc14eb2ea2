"""The index: the texts, the title for the page, three facets."""

from haystack import indexes
from records.models import Record


class RecordIndex(indexes.SearchIndex, indexes.Indexable):
    text = indexes.CharField(document=True)
    title = indexes.CharField(model_attr="title")
    cause = indexes.CharField(model_attr="cause", faceted=True)
    component = indexes.CharField(model_attr="component", faceted=True)
    organization = indexes.CharField(model_attr="organization", faceted=True)

    def get_model(self):
        return Record

    def prepare_text(self, record):
        return f"{record.title}\n{record.body}"
