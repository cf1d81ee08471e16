package storekit

import (
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// The tables beside that of the jobs.
var (
	Types = newTable(Table[rota.Type]{
		Name: "rota_types", what: func(t *rota.Type) string { return "type " + t.Name },
		columns: []Column[rota.Type]{
			text("name", func(t *rota.Type) *string { return &t.Name }).asKey(),
			boolean("paused", func(t *rota.Type) *bool { return &t.Paused }),
			id("version", func(t *rota.Type) *rota.ID { return &t.Version }),
			text("created_by", func(t *rota.Type) *string { return &t.CreatedBy }).insertOnly(),
			moment("created_at", func(t *rota.Type) *time.Time { return &t.CreatedAt }).insertOnly(),
			moment("updated_at", func(t *rota.Type) *time.Time { return &t.UpdatedAt }),
			document("spec", func(t *rota.Type) any { return &t.Spec }),
		},
	})

	Templates = newTable(Table[rota.Template]{
		Name: "rota_templates", what: func(t *rota.Template) string { return "template " + t.Name },
		columns: []Column[rota.Template]{
			text("name", func(t *rota.Template) *string { return &t.Name }).asKey(),
			text("state", func(t *rota.Template) *rota.TemplateState { return &t.State }).notNull(),
			id("version", func(t *rota.Template) *rota.ID { return &t.Version }),
			text("created_by", func(t *rota.Template) *string { return &t.CreatedBy }).insertOnly(),
			moment("created_at", func(t *rota.Template) *time.Time { return &t.CreatedAt }).insertOnly(),
			moment("updated_at", func(t *rota.Template) *time.Time { return &t.UpdatedAt }),
			document("spec", func(t *rota.Template) any { return &t.Spec }),
			text("owner", func(t *rota.Template) *string { return &t.Owner }),
			moment("since", func(t *rota.Template) *time.Time { return &t.Since }),
			derived("type", func(t *rota.Template) string { return t.Spec.Type }),
			derivedNumber("webhooks", func(t *rota.Template) int { return len(t.Spec.Webhooks) }),
		},
	})

	// A schedule that was dropped and created again is another row: the creator and the time of
	// creation of a row never change.
	Schedules = newTable(Table[rota.Schedule]{
		Name: "rota_schedules", what: func(s *rota.Schedule) string { return "schedule " + s.Name },
		replaces: func(was, is *rota.Schedule) bool {
			return was.CreatedBy != is.CreatedBy || !was.CreatedAt.Equal(is.CreatedAt)
		},
		columns: []Column[rota.Schedule]{
			text("name", func(s *rota.Schedule) *string { return &s.Name }).asKey(),
			text("state", func(s *rota.Schedule) *rota.ScheduleState { return &s.State }).notNull(),
			text("reason", func(s *rota.Schedule) *string { return &s.Reason }),
			moment("anchor", func(s *rota.Schedule) *time.Time { return &s.Anchor }),
			moment("next_fire", func(s *rota.Schedule) *time.Time { return &s.NextFire }),
			moment("last_fire", func(s *rota.Schedule) *time.Time { return &s.LastFire }),
			id("version", func(s *rota.Schedule) *rota.ID { return &s.Version }),
			text("created_by", func(s *rota.Schedule) *string { return &s.CreatedBy }).insertOnly(),
			moment("created_at", func(s *rota.Schedule) *time.Time { return &s.CreatedAt }).insertOnly(),
			moment("updated_at", func(s *rota.Schedule) *time.Time { return &s.UpdatedAt }),
			document("spec", func(s *rota.Schedule) any { return &s.Spec }),
			moment("moved_at", func(s *rota.Schedule) *time.Time { return &s.MovedAt }),
			moment("resumed_at", func(s *rota.Schedule) *time.Time { return &s.ResumedAt }),
			moment("triggered_at", func(s *rota.Schedule) *time.Time { return &s.TriggeredAt }),
			text("owner", func(s *rota.Schedule) *string { return &s.Owner }),
			moment("since", func(s *rota.Schedule) *time.Time { return &s.Since }),
			derived("template", func(s *rota.Schedule) string { return s.Spec.Template }),
		},
	})

	Groups = newTable(Table[rota.Group]{
		Name: "rota_groups", what: func(g *rota.Group) string { return "group " + g.ID.String() },
		columns: []Column[rota.Group]{
			id("id", func(g *rota.Group) *rota.ID { return &g.ID }).asKey(),
			text("name", func(g *rota.Group) *string { return &g.Name }).insertOnly(),
			text("mode", func(g *rota.Group) *rota.GroupMode { return &g.Mode }).notNull().insertOnly(),
			text("on_failure", func(g *rota.Group) *rota.OnFailure { return &g.OnFailure }).notNull().insertOnly(),
			small("size", func(g *rota.Group) *int { return &g.Size }).insertOnly(),
			text("ending", func(g *rota.Group) *rota.Ending { return &g.Ending }).updateOnly(),
			text("ending_reason", func(g *rota.Group) *string { return &g.EndingReason }).updateOnly(),
			text("ending_by", func(g *rota.Group) *string { return &g.EndingBy }).updateOnly(),
			text("created_by", func(g *rota.Group) *string { return &g.CreatedBy }).insertOnly(),
			moment("created_at", func(g *rota.Group) *time.Time { return &g.CreatedAt }).insertOnly(),
			document("pruned", func(g *rota.Group) any { return (*tally)(&g.Pruned) }).
				onlyIf(func(g *rota.Group) bool { return g.Pruned != rota.GroupTally{} }).updateOnly(),
		},
	})

	Reservations = newTable(Table[rota.Reservation]{
		Name: "rota_reservations",
		columns: []Column[rota.Reservation]{
			id("id", func(r *rota.Reservation) *rota.ID { return &r.ID }).asKey(),
			text("node", func(r *rota.Reservation) *string { return &r.Node }).notNull().insertOnly(),
			id("life", func(r *rota.Reservation) *rota.ID { return &r.Incarnation }).insertOnly(),
			text("status", func(r *rota.Reservation) *rota.ReservationStatus { return &r.Status }).notNull(),
			text("reserved_by", func(r *rota.Reservation) *string { return &r.ReservedBy }).insertOnly(),
			moment("reserved_at", func(r *rota.Reservation) *time.Time { return &r.ReservedAt }).insertOnly(),
			moment("expires_at", func(r *rota.Reservation) *time.Time { return &r.ExpiresAt }),
			moment("ended_at", func(r *rota.Reservation) *time.Time { return &r.EndedAt }),
			id("job_id", func(r *rota.Reservation) *rota.ID { return &r.JobID }),
		},
	})

	// An idempotency key that is used again is another row: rows are never updated.
	Requests = newTable(Table[rules.Request]{
		Name: "rota_requests", replaces: func(was, is *rules.Request) bool { return true },
		columns: []Column[rules.Request]{
			text("actor", func(r *rules.Request) *string { return &r.Key.Actor }).asKey(),
			text("key", func(r *rules.Request) *string { return &r.Key.Key }).asKey(),
			moment("at", func(r *rules.Request) *time.Time { return &r.At }),
			id("command_id", func(r *rules.Request) *rota.ID { return &r.Command }),
			text("hash", func(r *rules.Request) *string { return &r.Hash }).notNull(),
		},
	})

	UniqueKeys = newTable(Table[rules.UniqueKeyRecord]{
		Name: "rota_keys", upserts: true,
		columns: []Column[rules.UniqueKeyRecord]{
			text("type", func(k *rules.UniqueKeyRecord) *string { return &k.Key.Type }).asKey(),
			text("key", func(k *rules.UniqueKeyRecord) *string { return &k.Key.Key }).asKey(),
			id("execution_id", func(k *rules.UniqueKeyRecord) *rota.ID { return &k.ExecutionID }),
			micros("free_at", func(k *rules.UniqueKeyRecord) *int64 { return &k.FreeAt }),
			boolean("ended", func(k *rules.UniqueKeyRecord) *bool { return &k.Ended }),
		},
	})

	Buckets = newTable(Table[rota.Bucket]{
		Name: "rota_buckets", upserts: true, what: func(b *rota.Bucket) string { return "the starts of type " + b.Type },
		columns: []Column[rota.Bucket]{
			text("type", func(b *rota.Bucket) *string { return &b.Type }).asKey(),
			number("slot", func(b *rota.Bucket) *int64 { return &b.Slot }),
			document("starts", func(b *rota.Bucket) any { return &b.Starts }),
		},
	})

	Dropped = newTable(Table[rules.Dropped]{
		Name: "rota_dropped",
		columns: []Column[rules.Dropped]{
			text("schedule", func(d *rules.Dropped) *string { return &d.Schedule }).asKey(),
			number("made_before", func(d *rules.Dropped) *int64 { return &d.Before }),
			micros("hidden_before", func(d *rules.Dropped) *int64 { return &d.Hidden }),
			text("dropped_by", func(d *rules.Dropped) *string { return &d.By }),
		},
	})

	// A second decision adds no second intent.
	Intents = newTable(Table[rules.Intent]{
		Name: "rota_intents", upserts: true,
		columns: []Column[rules.Intent]{
			text("kind", func(i *rules.Intent) *string { return &i.Kind }).asKey(),
			text("name", func(i *rules.Intent) *string { return &i.Name }).asKey(),
		},
	})

	// Throttle and Webhooks have one row, or none.
	Throttle = newTable(Table[rota.Throttle]{
		Name: "rota_throttle", upserts: true, what: func(*rota.Throttle) string { return "the limits" },
		columns: []Column[rota.Throttle]{
			derivedNumber("id", func(*rota.Throttle) int { return 1 }).asKey(),
			id("version", func(t *rota.Throttle) *rota.ID { return &t.Version }),
			text("updated_by", func(t *rota.Throttle) *string { return &t.UpdatedBy }),
			moment("updated_at", func(t *rota.Throttle) *time.Time { return &t.UpdatedAt }),
			document("spec", func(t *rota.Throttle) any { return &t.Spec }),
		},
	})
	Webhooks = newTable(Table[rota.Webhooks]{
		Name: "rota_webhooks", upserts: true, what: func(*rota.Webhooks) string { return "the webhooks" },
		columns: []Column[rota.Webhooks]{
			derivedNumber("id", func(*rota.Webhooks) int { return 1 }).asKey(),
			id("version", func(h *rota.Webhooks) *rota.ID { return &h.Version }),
			text("updated_by", func(h *rota.Webhooks) *string { return &h.UpdatedBy }),
			moment("updated_at", func(h *rota.Webhooks) *time.Time { return &h.UpdatedAt }),
			document("spec", func(h *rota.Webhooks) any { return &h.Spec }),
		},
	})

	// The store numbers the entries, and inserts each once by a statement of its own.
	Audit = newTable(Table[rota.AuditEntry]{
		Name: "rota_audit",
		columns: []Column[rota.AuditEntry]{
			id("id", func(e *rota.AuditEntry) *rota.ID { return &e.ID }).asKey(),
			moment("at", func(e *rota.AuditEntry) *time.Time { return &e.At }).insertOnly(),
			text("actor", func(e *rota.AuditEntry) *string { return &e.Actor }).insertOnly(),
			text("act", func(e *rota.AuditEntry) *string { return &e.Act }).notNull().insertOnly(),
			id("job_id", func(e *rota.AuditEntry) *rota.ID { return &e.JobID }).insertOnly(),
			text("subject", func(e *rota.AuditEntry) *string { return &e.Subject }).insertOnly(),
			text("detail", func(e *rota.AuditEntry) *string { return &e.Detail }).insertOnly(),
			text("schedule", func(e *rota.AuditEntry) *string { return &e.Schedule }).insertOnly(),
			id("execution_id", func(e *rota.AuditEntry) *rota.ID { return &e.ExecutionID }).insertOnly(),
			id("run_id", func(e *rota.AuditEntry) *rota.ID { return &e.RunID }).insertOnly(),
			text("outcome", func(e *rota.AuditEntry) *string { return &e.Outcome }).insertOnly(),
			raw("changes", func(e *rota.AuditEntry) *json.RawMessage { return &e.Changes }).insertOnly(),
		},
	})
)

// tally is the stored form of a GroupTally.
type tally struct {
	Queued    int `json:"queued,omitempty"`
	Running   int `json:"running,omitempty"`
	Completed int `json:"completed,omitempty"`
	Dead      int `json:"dead,omitempty"`
	Skipped   int `json:"skipped,omitempty"`
	Cancelled int `json:"cancelled,omitempty"`
}
