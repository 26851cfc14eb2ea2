"""What editors say of words for the search: which mean the same, which is a word of its own. Applied to queries only."""

from __future__ import annotations

import re
from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from incidents.search import TermRow, has_leaves, links, shipped_rows, written

MAX_TERMS = 20  # of one group; the largest that ships has 14
MAX_TERM_CHARS = 60
MAX_GROUPS = 2_000  # each process keeps them in memory, and reads them anew when one changes


class TermRelation(models.TextChoices):
    """What the words of a group have to do with one another."""

    SAME = "same", _("같은 말")
    ALIKE = "alike", _("비슷한 말")
    NEAR = "near", _("함께 볼 말")
    WORD = "word", _("한 낱말")
    APART = "apart", _("잇지 않을 말")


class SearchTermManager(models.Manager["SearchTerm"]):
    """Questions across groups."""

    def active_rows(self) -> tuple[TermRow, ...]:
        """Return what the search is to take, in the order in which it was written."""
        rows = self.filter(is_active=True).order_by("pk").values_list("terms", "relation")
        return tuple(TermRow(tuple(terms), relation) for terms, relation in rows)


class SearchTerm(models.Model):
    """One group of words. What ships with the program (`search/data/synonyms.txt`) stands beside these groups."""

    terms = models.JSONField(
        _("말"),
        default=list,
        help_text=_("한 줄에 하나. “함께 볼 말”은 첫 줄의 말을 찾을 때 나머지를 함께 봅니다."),
    )
    relation = models.CharField(
        _("사이"),
        max_length=5,
        choices=TermRelation.choices,
        default=TermRelation.SAME,
        help_text=_(
            "같은 말: 어느 것으로 찾아도 모두 찾고, 이미 있는 묶음의 말을 적으면 그 묶음에 듭니다. 비슷한 말·함께 볼 말: 순서에만 쓰입니다. "
            "한 낱말: 형태소 분석기가 모르는 이름을 쪼개지 않고 찾습니다. 잇지 않을 말: 프로그램에 실린 묶음에서 떼어 놓습니다."
        ),
    )
    is_active = models.BooleanField(_("쓰는 중"), default=True, help_text=_("끄면 다음 검색부터 쓰이지 않습니다."))
    note = models.CharField(
        _("까닭"), max_length=300, blank=True, default="", help_text=_("독자에게는 보이지 않습니다.")
    )
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("고친 사람"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    created_at = models.DateTimeField(_("만든 때"), auto_now_add=True)
    changed_at = models.DateTimeField(_("고친 때"), auto_now=True)

    objects: ClassVar[SearchTermManager] = SearchTermManager()

    class Meta:
        ordering = ["-changed_at", "-pk"]
        verbose_name = _("찾는 말 묶음")
        verbose_name_plural = _("찾는 말 묶음")

    def __str__(self) -> str:
        signs: dict[str, str] = {TermRelation.ALIKE: " ~ ", TermRelation.WORD: ", ", TermRelation.APART: " ≠ "}
        if self.relation == TermRelation.NEAR and self.terms:
            return f"{self.terms[0]} > {', '.join(map(str, self.terms[1:]))}"
        return signs.get(self.relation, " = ").join(map(str, self.terms))

    @property
    def row(self) -> TermRow:
        """The group as the search takes it."""
        return TermRow(tuple(self.terms), self.relation)

    def clean(self) -> None:
        """Refuse what says nothing, or nothing new; the words come out with single spaces."""
        if not isinstance(self.terms, list) or not all(isinstance(term, str) for term in self.terms):
            raise ValidationError({"terms": gettext("말을 한 줄에 하나씩 적으십시오.")})
        self.terms = [" ".join(term.split()) for term in self.terms if term.strip()]
        problems = list(self._problems_of_terms())
        if problems:
            raise ValidationError({"terms": problems})
        if self.is_active:
            self._refuse_known()
            others = SearchTerm.objects.filter(is_active=True).exclude(pk=self.pk)
            if others.count() >= MAX_GROUPS:
                raise ValidationError(
                    gettext("쓰는 묶음이 %(limit)s개에 이르렀습니다. 쓰지 않는 것을 먼저 끄십시오.")
                    % {"limit": f"{MAX_GROUPS:,}"}
                )

    def _problems_of_terms(self) -> list[str]:
        least = 1 if self.relation == TermRelation.WORD else 2
        if not self.terms:
            return [gettext("말을 적으십시오. 한 줄에 하나씩 적습니다.")]
        if len(self.terms) < least:
            return [gettext("말이 하나뿐입니다. 이을 말을 한 줄에 하나씩 둘 이상 적으십시오.")]
        if len(self.terms) > MAX_TERMS:
            return [
                gettext("한 묶음에는 말을 %(limit)s개까지 적을 수 있습니다. 지금은 %(count)s개입니다.")
                % {"limit": MAX_TERMS, "count": len(self.terms)}
            ]
        problems = []
        seen: dict[str, str] = {}
        for term in self.terms:
            if len(term) > MAX_TERM_CHARS:
                problems.append(
                    gettext("말이 너무 깁니다. %(limit)s자까지 적을 수 있습니다: %(term)s…")
                    % {"limit": MAX_TERM_CHARS, "term": term[:30]}
                )
            elif not has_leaves(term):
                problems.append(gettext("찾을 수 있는 글자가 없습니다: %(term)s") % {"term": term})
            elif self.relation == TermRelation.WORD and not re.fullmatch("[가-힣]{2,}", written(term)):
                problems.append(gettext("한 낱말은 한글 두 자 이상을 띄지 않고 적습니다: %(term)s") % {"term": term})
            elif written(term) in seen:
                problems.append(gettext("같은 말이 두 번 있습니다: %(term)s") % {"term": term})
            seen[written(term)] = term
        return problems

    def _refuse_known(self) -> None:
        """Refuse a group of which every two words are joined already, by one other group."""
        own = links(self.row)
        for other in SearchTerm.objects.filter(is_active=True, relation=self.relation).exclude(pk=self.pk):
            if own <= links(other.row):
                raise ValidationError({"terms": gettext("이미 있는 묶음입니다: %(group)s") % {"group": other}})
        for row in shipped_rows():
            if row.relation == self.relation and own <= links(row):
                group = SearchTerm(terms=list(row.terms), relation=row.relation)
                raise ValidationError(
                    {"terms": gettext("프로그램에 이미 실려 있는 묶음입니다: %(group)s") % {"group": group}}
                )
