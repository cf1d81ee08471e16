package storekit

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/verify"
)

// The check of a spec also reports one that cannot be decoded, so these checks ignore the error of
// the scan.

var (
	sqlVerifyTemplates = Templates.Select("type", "webhooks") + byName
	sqlVerifySchedules = Schedules.Select("template") + byName
	byName             = `
ORDER BY name`
	sqlVerifyEdges = `
SELECT schedule, depends_on
FROM rota_edges
ORDER BY schedule, depends_on`
	sqlVerifyOrphanEdges = `
SELECT e.schedule, e.depends_on
FROM rota_edges e
WHERE NOT EXISTS (SELECT 1 FROM rota_schedules s WHERE s.name = e.schedule)
ORDER BY e.schedule, e.depends_on`
)

// intents checks that the rows that intents name exist.
func (in *Inspection) intents() error {
	var all []rules.Intent
	err := in.each(Intents.Select()+`
ORDER BY kind, name`, func(r Row) { all = append(all, rules.Intent{Kind: r.Text(0), Name: r.Text(1)}) })
	if err != nil {
		return err
	}
	for _, i := range all {
		exists, err := in.exists(i)
		if err != nil {
			return err
		}
		in.Intent(i, exists)
	}
	return nil
}

// exists reports whether the row that an intent names exists.
func (in *Inspection) exists(i rules.Intent) (found bool, err error) {
	markFound := func(Row) { found = true }
	switch i.Kind {
	case rules.IntentGroup:
		if id, parseErr := rota.ParseID(i.Name); parseErr == nil {
			err = in.each(Groups.ByKey(), markFound, id)
		}
	case rules.IntentTemplate:
		err = in.each(Templates.ByKey(), markFound, i.Name)
	case rules.IntentDrop:
		err = in.each(Dropped.ByKey(), markFound, i.Name)
	default:
		found = i.Kind == rules.IntentKeys || i.Name != ""
	}
	return found, err
}

func (in *Inspection) limits() error {
	return in.each(Throttle.ByKey(), func(r Row) {
		t, _ := Throttle.Scan(r)
		checkWidths(in, Throttle, r, "limits")
		in.Throttle(t, r.JSON(Throttle.Col("spec")))
	})
}

func (in *Inspection) webhooks() error {
	return in.each(Webhooks.ByKey(), func(r Row) {
		h, _ := Webhooks.Scan(r)
		checkWidths(in, Webhooks, r, "webhooks")
		in.Webhooks(h, r.JSON(Webhooks.Col("spec")))
	})
}

func (in *Inspection) buckets() error {
	return in.each(Buckets.Select()+`
ORDER BY type`, func(r Row) {
		b, err := Buckets.Scan(r)
		if err != nil {
			in.UnreadableBucket("starts of type "+b.Type, err)
			return
		}
		in.Bucket(b)
	})
}

func (in *Inspection) types() error {
	return in.each(Types.Select()+byName, func(r Row) {
		t, _ := Types.Scan(r)
		checkWidths(in, Types, r, "type "+t.Name)
		in.Type(t, r.JSON(Types.Col("spec")))
	})
}

func (in *Inspection) templates() error {
	width := len(Templates.read)
	return in.each(sqlVerifyTemplates, func(r Row) {
		t, _ := Templates.Scan(r)
		checkWidths(in, Templates, r, "template "+t.Name)
		in.Template(t, r.Text(width), int(r.Int(width+1)), r.JSON(Templates.Col("spec")))
	})
}

// schedules reads the edges first and keeps them in memory.
func (in *Inspection) schedules() error {
	edges := map[string][]string{}
	err := in.each(sqlVerifyEdges, func(r Row) { edges[r.Text(0)] = append(edges[r.Text(0)], r.Text(1)) })
	if err != nil {
		return err
	}
	width := len(Schedules.read)
	return in.each(sqlVerifySchedules, func(r Row) {
		one, _ := Schedules.Scan(r)
		checkWidths(in, Schedules, r, "schedule "+one.Name)
		in.Schedule(verify.ScheduleRow{
			Schedule: one, Template: r.Text(width), Edges: edges[one.Name], Spec: r.JSON(Schedules.Col("spec")),
		})
	})
}

func (in *Inspection) orphanEdges() error {
	return in.each(sqlVerifyOrphanEdges, func(r Row) { in.OrphanEdge(r.Text(0), r.Text(1)) })
}
