package system

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

type group = *rota.Group

// memberCount is a column that counts members.
func memberCount(name string, of func(*rota.GroupTally) int) column[group] {
	return column[group]{name: name, kind: Integer, notNull: true, value: func(g *group) sqlite.Value { return integer(int64(of(&(*g).Tally))) }}
}

var groups = &table[group]{
	name: "groups", key: func(g *group) string { return string((*g).ID[:]) },
	columns: append([]column[group]{
		{name: "group_uuid", kind: UUID, value: func(g *group) sqlite.Value { return uuid((*g).ID) }, notNull: true},
		{name: "group_name", kind: Text, value: func(g *group) sqlite.Value { return text((*g).Name) }},
		{name: "mode", kind: Text, value: func(g *group) sqlite.Value { return notNullText(string((*g).Mode)) }, notNull: true},
		{name: "on_failure", kind: Text, value: func(g *group) sqlite.Value { return notNullText(string((*g).OnFailure)) }, notNull: true},
		{name: "state", kind: Text, value: func(g *group) sqlite.Value { return notNullText(string((*g).Status())) }, notNull: true},
		{name: "size", kind: Integer, value: func(g *group) sqlite.Value { return integer(int64((*g).Size)) }, notNull: true},
		memberCount("queued", func(t *rota.GroupTally) int { return t.Queued }),
		memberCount("running", func(t *rota.GroupTally) int { return t.Running }),
		memberCount("completed", func(t *rota.GroupTally) int { return t.Completed }),
		memberCount("dead", func(t *rota.GroupTally) int { return t.Dead }),
		memberCount("skipped", func(t *rota.GroupTally) int { return t.Skipped }),
		memberCount("cancelled", func(t *rota.GroupTally) int { return t.Cancelled }),
		{name: "created_by", kind: Text, value: func(g *group) sqlite.Value { return text((*g).CreatedBy) }},
	}, timeColumns("created_at", func(g *group) time.Time { return (*g).CreatedAt })...),
	paths: []accessPath[group]{
		{key: "group_uuid", rows: 1, read: func(q *query, w readRequest) pages[group] {
			id, err := rota.ParseID(w.equal["group_uuid"].Text())
			if err != nil {
				return noRows[group]
			}
			return singleRow(q, func(v rota.View) (group, error) { return v.Group(q.ctx, id) }, asRead[group])
		}},
		{order: []orderTerm{{column: "group_uuid", desc: true}}, rows: someEstimate, read: func(q *query, w readRequest) pages[group] {
			return newest(q, w, rota.View.Groups, func(g group) rota.ID { return g.ID })
		}},
	},
}

// newest lists what has an id, the newest first.
func newest[T any](q *query, w readRequest, read func(rota.View, context.Context, rota.ID, int) ([]T, error), id func(T) rota.ID) pages[T] {
	return paged(q, w, func(v rota.View, limit int, last *T) ([]T, error) {
		before := rota.ID{}
		if last != nil {
			before = id(*last)
		}
		return read(v, q.ctx, before, limit)
	}, asRead[T])
}

type reservation = *rota.Reservation

var reservations = &table[reservation]{
	name: "reservations", key: func(r *reservation) string { return string((*r).ID[:]) },
	columns: append([]column[reservation]{
		{name: "reservation_uuid", kind: UUID, value: func(r *reservation) sqlite.Value { return uuid((*r).ID) }, notNull: true},
		{name: "node", kind: Text, value: func(r *reservation) sqlite.Value { return notNullText((*r).Node) }, notNull: true},
		{name: "state", kind: Text, value: func(r *reservation) sqlite.Value { return notNullText(string((*r).Status)) }, notNull: true},
		{name: "reserved_by", kind: Text, value: func(r *reservation) sqlite.Value { return text((*r).ReservedBy) }},
		{name: "job_run_uuid", kind: UUID, value: func(r *reservation) sqlite.Value { return uuid((*r).JobID) }},
	}, reservationTimes()...),
	paths: []accessPath[reservation]{
		{order: []orderTerm{{column: "reservation_uuid", desc: true}}, rows: someEstimate, read: func(q *query, w readRequest) pages[reservation] {
			return newest(q, w, rota.View.Reservations, func(r reservation) rota.ID { return r.ID })
		}},
	},
}

func reservationTimes() (columns []column[reservation]) {
	columns = append(columns, timeColumns("reserved_at", func(r *reservation) time.Time { return (*r).ReservedAt })...)
	columns = append(columns, timeColumns("expires_at", func(r *reservation) time.Time { return (*r).ExpiresAt })...)
	return append(columns, timeColumns("ended_at", func(r *reservation) time.Time { return (*r).EndedAt })...)
}
