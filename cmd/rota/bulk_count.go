package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"

	"github.com/rotajobs/rota/api"
)

// countMax is the highest count that is taken by listing jobs, which costs as much as the list.
const countMax = 100

// countText is the number of matching jobs for the confirmation question. It is exact if the statistics of the server
// have the number, or else counted up to countMax. It is empty if the server does not answer.
func (b *bulk) countText(ctx context.Context, a *app, path string) string {
	if n, known := b.countByStats(ctx, a, path); known {
		return " (" + plural(n, "job", "jobs") + ")"
	}
	n := 0
	for _, q := range b.lists(path) {
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

// countByStats takes the number from the statistics of the server, which count by type and state.
func (b *bulk) countByStats(ctx context.Context, a *app, path string) (n int, known bool) {
	query := b.filters.query()
	kind, state := query.Get("type"), query.Get("state")
	query.Del("type")
	query.Del("state")
	if len(query) > 0 {
		return 0, false
	}
	stats, _, err := fetch[api.Stats](ctx, a, newGet("/stats"))
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

// listQuery is one list to count.
type listQuery struct {
	path  string
	query url.Values
}

// lists returns the lists that contain the matching jobs.
func (b *bulk) lists(path string) (lists []listQuery) {
	query := b.filters.query()
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
