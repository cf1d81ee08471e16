package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testNextFire(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"schedules are listed by next fire, with the same filters as by name", nextFireListed},
		{"the list by next fire continues after a time and a name", nextFirePages},
		{"filters that exclude each other are refused", nextFireRefused},
		{"a definition id resolves to its name, even after a delete", definitionNames},
	})
}

// schedulesNamed returns the names of the schedules that a query lists.
func (y *story) schedulesNamed(q rota.ScheduleQuery) string {
	y.Helper()
	got, err := y.s.Schedules(y.ctx, q)
	return joinNames(must(y, "schedules", got, err), func(s *rota.Schedule) string { return s.Name })
}

func nextFireListed(y *story) {
	for name, hours := range map[string]int{"c": 1, "a": 3, "b": 1, "d": 2, "e": 4, "f": 3} {
		template := map[bool]string{true: "other", false: "report"}[strings.Contains("bdf", name)]
		y.declare(name, rota.ScheduleSpec{Template: template, Every: time.Duration(hours) * time.Hour})
	}
	y.switchTo("d", rota.SchedulePaused)
	y.switchTo("f", rota.SchedulePaused)
	y.switchTo("e", rota.ScheduleDisabled)
	hour := func(n int) time.Time { return startTime.Add(time.Duration(n) * time.Hour) }
	for _, one := range []struct {
		q    rota.ScheduleQuery
		want string
	}{
		{rota.ScheduleQuery{ByNext: true}, "b c d a f"},
		{rota.ScheduleQuery{ByNext: true, Limit: 3}, "b c d"},
		{rota.ScheduleQuery{ByNext: true, State: rota.ScheduleEnabled}, "b c a"},
		{rota.ScheduleQuery{ByNext: true, State: rota.SchedulePaused}, "d f"},
		{rota.ScheduleQuery{ByNext: true, State: rota.ScheduleDisabled}, "none"},
		{rota.ScheduleQuery{ByNext: true, Template: "other"}, "b d f"},
		{rota.ScheduleQuery{ByNext: true, Template: "other", State: rota.SchedulePaused, Limit: 1}, "d"},
		{rota.ScheduleQuery{ByNext: true, NextFrom: hour(2)}, "d a f"},
		{rota.ScheduleQuery{ByNext: true, NextUntil: hour(2)}, "b c d"},
		{rota.ScheduleQuery{ByNext: true, NextFrom: hour(2), NextUntil: hour(2)}, "d"},
		{rota.ScheduleQuery{ByNext: true, NextFrom: hour(3), NextUntil: hour(2)}, "none"},
		{rota.ScheduleQuery{ByNext: true, NextFrom: hour(1), NextAfter: hour(2), After: "d"}, "a f"},
		{rota.ScheduleQuery{ByNext: true, NextFrom: hour(3), NextAfter: hour(1), After: "c"}, "a f"},
		{rota.ScheduleQuery{ByNext: true, Template: "report", NextFrom: hour(2)}, "a"},
		{rota.ScheduleQuery{Idle: true}, "e"},
		{rota.ScheduleQuery{Idle: true, After: "e"}, "none"},
		{rota.ScheduleQuery{Idle: true, Template: "report"}, "e"},
		{rota.ScheduleQuery{Idle: true, Template: "other"}, "none"},
		{rota.ScheduleQuery{Idle: true, State: rota.ScheduleEnabled}, "none"},
	} {
		want(y, fmt.Sprintf("%+v", one.q), y.schedulesNamed(one.q), one.want)
	}
}

func nextFirePages(y *story) {
	for i := range 9 {
		name := string(rune('a' + i))
		y.declare(name, rota.ScheduleSpec{Every: time.Duration(1+i/4) * time.Hour})
		if i%2 == 1 {
			y.switchTo(name, rota.SchedulePaused)
		}
	}
	for _, limit := range []int{1, 2, 4, 9, 10} {
		var all []*rota.Schedule
		for q := (rota.ScheduleQuery{ByNext: true, Limit: limit}); ; {
			page, err := y.s.Schedules(y.ctx, q)
			if all = append(all, must(y, "schedules", page, err)...); len(page) < limit {
				break
			}
			last := page[len(page)-1]
			q.NextAfter, q.After = last.NextFire, last.Name
		}
		want(y, "all pages", joinNames(all, func(s *rota.Schedule) string { return s.Name }), "a b c d e f g h i")
	}
}

func nextFireRefused(y *story) {
	for field, q := range map[string]rota.ScheduleQuery{
		"idle": {ByNext: true, Idle: true}, "ahead": {ByNext: true, Ahead: startTime}, "next_from": {NextFrom: startTime},
		"next_until": {Idle: true, NextUntil: startTime}, "next_after": {ByNext: true, After: "a"},
	} {
		_, err := y.s.Schedules(y.ctx, q)
		var refusal *rota.Error
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || refusal.Field != field {
			y.Errorf("%s: %v", field, err)
		}
	}
}

func definitionNames(y *story) {
	id := rota.DefinitionID("nightly")
	_, err := y.s.Definition(y.ctx, id)
	y.wantNotFound("a name that was never declared", err)
	before := y.view()
	y.declare("nightly", rota.ScheduleSpec{})
	y.declare("weekly", rota.ScheduleSpec{})
	for range 2 {
		name, err := y.s.Definition(y.ctx, id)
		want(y, "name", must(y, "definition", name, err), "nightly")
		y.deleteSchedule("nightly")
		name, err = y.s.Definition(y.ctx, id)
		want(y, "name after the delete", must(y, "definition", name, err), "nightly")
		y.declare("nightly", rota.ScheduleSpec{})
	}
	_, err = before.Definition(y.ctx, id)
	y.wantNotFound("a name that was declared since", err)
	c := y.declareCommand("monthly", rota.ScheduleSpec{})
	c.Version = new(y.ids.next())
	y.refused(rota.NotFound, c)
	_, err = y.s.Definition(y.ctx, rota.DefinitionID("monthly"))
	y.wantNotFound("a name whose declaration was refused", err)
	y.wantNoViolations()
}
