package sys

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

type group = *rota.Group

// tally is a column that counts members.
func tally(name string, of func(*rota.GroupTally) int) column[group] {
	return column[group]{name: name, kind: Integer, must: true, value: func(g *group) sqlite.Value { return integer(int64(of(&(*g).Tally))) }}
}

var groups = &table[group]{
	name: "groups", key: func(g *group) string { return string((*g).ID[:]) },
	columns: append([]column[group]{
		{name: "group_uuid", kind: UUID, value: func(g *group) sqlite.Value { return uuid((*g).ID) }, must: true},
		{name: "group_name", kind: Text, value: func(g *group) sqlite.Value { return text((*g).Name) }},
		{name: "mode", kind: Text, value: func(g *group) sqlite.Value { return word(string((*g).Mode)) }, must: true},
		{name: "on_failure", kind: Text, value: func(g *group) sqlite.Value { return word(string((*g).OnFailure)) }, must: true},
		{name: "state", kind: Text, value: func(g *group) sqlite.Value { return word(string((*g).Status())) }, must: true},
		{name: "size", kind: Integer, value: func(g *group) sqlite.Value { return integer(int64((*g).Size)) }, must: true},
		tally("queued", func(t *rota.GroupTally) int { return t.Queued }),
		tally("running", func(t *rota.GroupTally) int { return t.Running }),
		tally("completed", func(t *rota.GroupTally) int { return t.Completed }),
		tally("dead", func(t *rota.GroupTally) int { return t.Dead }),
		tally("skipped", func(t *rota.GroupTally) int { return t.Skipped }),
		tally("cancelled", func(t *rota.GroupTally) int { return t.Cancelled }),
		{name: "created_by", kind: Text, value: func(g *group) sqlite.Value { return text((*g).CreatedBy) }},
	}, timed("created_at", func(g *group) time.Time { return (*g).CreatedAt })...),
	ways: []way[group]{
		{by: "group_uuid", rows: 1, read: func(q *query, w want) pages[group] {
			id, err := rota.ParseID(w.is["group_uuid"].Text())
			if err != nil {
				return nothing[group]
			}
			return one(q, func(v rota.View) (group, error) { return v.Group(q.ctx, id) }, same[group])
		}},
		{order: []term{{column: "group_uuid", desc: true}}, rows: someGuess, read: func(q *query, w want) pages[group] {
			return newest(q, w, rota.View.Groups, func(g group) rota.ID { return g.ID })
		}},
	},
}

// newest lists what has an id, the newest first.
func newest[T any](q *query, w want, read func(rota.View, context.Context, rota.ID, int) ([]T, error), id func(T) rota.ID) pages[T] {
	return paged(q, w, func(v rota.View, limit int, last *T) ([]T, error) {
		before := rota.ID{}
		if last != nil {
			before = id(*last)
		}
		return read(v, q.ctx, before, limit)
	}, same[T])
}

type reservation = *rota.Reservation

var reservations = &table[reservation]{
	name: "reservations", key: func(r *reservation) string { return string((*r).ID[:]) },
	columns: append([]column[reservation]{
		{name: "reservation_uuid", kind: UUID, value: func(r *reservation) sqlite.Value { return uuid((*r).ID) }, must: true},
		{name: "node", kind: Text, value: func(r *reservation) sqlite.Value { return word((*r).Node) }, must: true},
		{name: "state", kind: Text, value: func(r *reservation) sqlite.Value { return word(string((*r).Status)) }, must: true},
		{name: "reserved_by", kind: Text, value: func(r *reservation) sqlite.Value { return text((*r).ReservedBy) }},
		{name: "job_run_uuid", kind: UUID, value: func(r *reservation) sqlite.Value { return uuid((*r).JobID) }},
	}, reservationTimes()...),
	ways: []way[reservation]{
		{order: []term{{column: "reservation_uuid", desc: true}}, rows: someGuess, read: func(q *query, w want) pages[reservation] {
			return newest(q, w, rota.View.Reservations, func(r reservation) rota.ID { return r.ID })
		}},
	},
}

func reservationTimes() (columns []column[reservation]) {
	columns = append(columns, timed("reserved_at", func(r *reservation) time.Time { return (*r).ReservedAt })...)
	columns = append(columns, timed("expires_at", func(r *reservation) time.Time { return (*r).ExpiresAt })...)
	return append(columns, timed("ended_at", func(r *reservation) time.Time { return (*r).EndedAt })...)
}
