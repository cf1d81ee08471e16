package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"

	"github.com/rotajobs/rota/httpapi"
)

// countMax is how far is counted by listing, which costs what it lists.
const countMax = 100

// countText is how many are meant, for a question: exactly where a server keeps count, else as far as is cheap to know, and
// nothing if no answer comes.
func (m *bulk) countText(ctx context.Context, a *app, path string) string {
	if n, known := m.countByStats(ctx, a, path); known {
		return " (" + plural(n, "job", "jobs") + ")"
	}
	n := 0
	for _, q := range m.lists(path) {
		part, err := a.page(ctx, q.path, q.query, "", countMax)
		if err != nil {
			return ""
		}
		if n += len(part.Items); part.NextCursor != "" || n > countMax {
			return fmt.Sprintf(" (more than %d jobs)", countMax)
		}
	}
	return " (" + plural(n, "job", "jobs") + ")"
}

// countByStats takes the number from the counts that a server keeps, which know types and states.
func (m *bulk) countByStats(ctx context.Context, a *app, path string) (n int, known bool) {
	query := m.filters.query()
	kind, state := query.Get("type"), query.Get("state")
	query.Del("type")
	query.Del("state")
	if len(query) > 0 {
		return 0, false
	}
	answer, err := a.get(ctx, "/stats", nil)
	if err != nil {
		return 0, false
	}
	stats, err := decode[httpapi.Stats](answer)
	switch {
	case err != nil:
		return 0, false
	case path != cancelPath:
		return stats.Dead, kind == "" && (state == "" || state == "failed" || state == "dead")
	}
	for _, c := range stats.Types {
		for name, count := range map[string]int{"queued": c.Queued, "scheduled": c.Scheduled, "blocked": c.Blocked, "running": c.Running} {
			if (kind == "" || c.Type == kind) && (state == "" || state == name) {
				n += count
			}
		}
	}
	return n, true
}

// listQuery is one list that has to be counted.
type listQuery struct {
	path  string
	query url.Values
}

// lists is where those that are meant are found.
func (m *bulk) lists(path string) (lists []listQuery) {
	query := m.filters.query()
	state := query.Get("state")
	dead := path != cancelPath && (state == "" || state == "failed" || state == "dead")
	switch {
	case dead:
		query.Del("state")
		return []listQuery{{"/dead", query}}
	case state != "":
		return []listQuery{{"/jobs", query}}
	}
	for _, open := range openStates {
		one := maps.Clone(query)
		one.Set("state", open)
		lists = append(lists, listQuery{"/jobs", one})
	}
	return lists
}
