package postgres

import "github.com/rotajobs/rota/internal/rules"

const (
	// An intent comes with whether what it names is there. The name of a group is
	// its id, unless somebody else has written it.
	sqlVerifyIntents = `
SELECT i.kind, i.name, CASE i.kind
  WHEN 'group' THEN CASE WHEN i.name ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    THEN EXISTS (SELECT FROM rota_groups g WHERE g.id = i.name::uuid)
    ELSE false END
  WHEN 'template' THEN EXISTS (SELECT FROM rota_templates t WHERE t.name = i.name)
  WHEN 'drop' THEN EXISTS (SELECT FROM rota_dropped d WHERE d.schedule = i.name)
  ELSE i.name <> '' END
FROM rota_intents i
ORDER BY i.kind, i.name`
	sqlVerifyBuckets = `
SELECT type, slot, starts
FROM rota_buckets
ORDER BY type`
	sqlVerifyTypes = typeColumns + `
ORDER BY name`
	// What stands beside a spec comes last, after the columns that are scanned as
	// ever.
	sqlVerifyTemplates = `
SELECT name, state, version, created_by, created_at, updated_at, spec, type, webhooks
FROM rota_templates
ORDER BY name`
	sqlVerifySchedules = `
SELECT name, state, reason, anchor, next_fire, last_fire, version, created_by, created_at, updated_at, spec, moved_at, template
FROM rota_schedules
ORDER BY name`
	sqlVerifyEdges = `
SELECT schedule, depends_on
FROM rota_edges
ORDER BY schedule, depends_on`
	sqlVerifyOrphanEdges = `
SELECT e.schedule, e.depends_on
FROM rota_edges e
WHERE NOT EXISTS (SELECT FROM rota_schedules s WHERE s.name = e.schedule)
ORDER BY e.schedule, e.depends_on`
)

// definitions streams what was declared, and what a Sweep is to see to. A spec
// that cannot be scanned is judged as it stands, so its error is passed over.
func (in *inspection) definitions() error {
	for _, check := range []func() error{
		in.intents,
		in.throttle,
		in.webhooks,
		in.buckets,
		in.types,
		in.templates,
		in.schedules,
		in.orphanEdges,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspection) intents() error {
	return in.each(sqlVerifyIntents, func(r row) error {
		in.Intent(rules.Intent{Kind: r.text(0), Name: r.text(1)}, r.bool(2))
		return nil
	})
}

func (in *inspection) throttle() error {
	return in.each(sqlThrottle, func(r row) error {
		in.Throttle(scanThrottleHead(r), r.json(3))
		return nil
	})
}

func (in *inspection) webhooks() error {
	return in.each(sqlWebhooks, func(r row) error {
		in.Webhooks(scanWebhooksHead(r), r.json(3))
		return nil
	})
}

func (in *inspection) buckets() error {
	return in.each(sqlVerifyBuckets, func(r row) error {
		b, err := scanBucket(r)
		if err != nil {
			in.UnreadableBucket("starts of type "+b.Type, err)
			return nil
		}
		in.Bucket(b)
		return nil
	})
}

func (in *inspection) types() error {
	return in.each(sqlVerifyTypes, func(r row) error {
		t, _ := scanType(r)
		in.Type(t, r.json(6))
		return nil
	})
}

func (in *inspection) templates() error {
	return in.each(sqlVerifyTemplates, func(r row) error {
		t, _ := scanTemplate(r)
		in.Template(t, r.text(7), int(r.int(8)), r.json(6))
		return nil
	})
}

// schedules come after what they depend on, which is kept anyway.
func (in *inspection) schedules() error {
	edges := map[string][]string{}
	err := in.each(sqlVerifyEdges, func(r row) error {
		edges[r.text(0)] = append(edges[r.text(0)], r.text(1))
		return nil
	})
	if err != nil {
		return err
	}
	return in.each(sqlVerifySchedules, func(r row) error {
		one, _ := scanSchedule(r)
		in.Schedule(rules.ScheduleRow{Schedule: one, Template: r.text(len(r) - 1), Edges: edges[one.Name], Spec: r.json(10)})
		return nil
	})
}

func (in *inspection) orphanEdges() error {
	return in.each(sqlVerifyOrphanEdges, func(r row) error {
		in.OrphanEdge(r.text(0), r.text(1))
		return nil
	})
}
