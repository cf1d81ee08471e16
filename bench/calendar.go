package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// calendar is schedules of one template. Their names are hashes, so that those
// that are due together do not lie side by side.
type calendar struct {
	size int
	from time.Time                     // when they are declared
	spec func(i int) rota.ScheduleSpec // of each
}

func (c calendar) counts() counts { return counts{schedules: c.size} }

const calendarTemplate = "bench"

// template makes jobs as the other cases enqueue them.
func (c calendar) template() *rota.PutTemplate {
	spec := rota.TemplateSpec{Type: jobType, Params: []byte(paramsText())}
	return &rota.PutTemplate{Meta: rota.NewMeta(""), Name: calendarTemplate, Spec: spec}
}

func scheduleName(i int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return fmt.Sprintf("bench-%x", sum[:8])
}

// declare makes the command that declares a schedule.
func (c calendar) declare(i int) (*rota.PutSchedule, error) {
	spec := c.spec(i)
	spec.Template = calendarTemplate
	return rota.Declare(rota.NewMeta(""), scheduleName(i), spec, c.from)
}

const (
	calendarTemplates = `
INSERT INTO rota_templates (name, type, version, created_at, updated_at, spec)
VALUES (?, ?, ?, ?, ?, ?)`
	calendarSchedules = `
INSERT INTO rota_schedules (name, template, anchor, next_fire, moved_at, version, created_at, updated_at, spec)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	calendarDefinitions = `
INSERT INTO rota_definitions (id, name)
VALUES (?, ?)`
	calendarAudit = `
INSERT INTO rota_audit (id, at, act, subject)
VALUES (?, ?, ?, ?)`
)

// make writes what the commands would write, which would take minutes to do it
// for a million; a test holds the two to each other.
func (c calendar) make(path string) error { return writePast(path, c.fill) }

// fill writes the schedules in the order of their names, so that the file is
// filled from one end to the other.
func (c calendar) fill(conn *sqlite.Conn) error {
	w := &calendarWriter{at: c.from.UnixMicro()}
	for sql, stmt := range map[string]**sqlite.Stmt{
		calendarTemplates: &w.template, calendarSchedules: &w.schedule, calendarDefinitions: &w.definition, calendarAudit: &w.audit,
	} {
		var err error
		if *stmt, err = conn.Prepare(sql); err != nil {
			return err
		}
	}
	if err := w.addTemplate(c.template()); err != nil {
		return err
	}
	for _, i := range c.byName() {
		put, err := c.declare(i)
		if err != nil {
			return err
		}
		if err := w.addSchedule(put); err != nil {
			return err
		}
	}
	return nil
}

// byName is the schedules in the order of their names.
func (c calendar) byName() []int {
	names, order := make([]string, c.size), make([]int, c.size)
	for i := range order {
		names[i], order[i] = scheduleName(i), i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	return order
}

type calendarWriter struct {
	template, schedule, definition, audit *sqlite.Stmt

	at int64
}

func (w *calendarWriter) addTemplate(c *rota.PutTemplate) error {
	s := w.template
	s.BindText(1, c.Name)
	s.BindText(2, c.Spec.Type)
	s.BindBytes(3, c.ID[:])
	s.BindInt64(4, w.at)
	s.BindInt64(5, w.at)
	s.BindText(6, string(rota.EncodeSpec(c.Spec.Canonical())))
	if err := do(s); err != nil {
		return err
	}
	return w.note(c, rota.AuditTemplateCreated, "template "+c.Name)
}

func (w *calendarWriter) addSchedule(c *rota.PutSchedule) error {
	s := w.schedule
	s.BindText(1, c.Name)
	s.BindText(2, c.Spec.Template)
	s.BindInt64(3, c.Anchor.UnixMicro())
	s.BindInt64(4, c.Next.UnixMicro())
	s.BindInt64(5, w.at)
	s.BindBytes(6, c.ID[:])
	s.BindInt64(7, w.at)
	s.BindInt64(8, w.at)
	s.BindText(9, string(rota.EncodeSpec(c.Spec)))
	if err := do(s); err != nil {
		return err
	}
	id := rota.DefinitionID(c.Name)
	w.definition.BindBytes(1, id[:])
	w.definition.BindText(2, c.Name)
	if err := do(w.definition); err != nil {
		return err
	}
	return w.note(c, rota.AuditScheduleCreated, "schedule "+c.Name)
}

func (w *calendarWriter) note(c rota.Command, act, subject string) error {
	id, s := rota.AuditNameID(c.Head().ID, c.Verb(), subject), w.audit
	s.BindBytes(1, id[:])
	s.BindInt64(2, w.at)
	s.BindText(3, act)
	s.BindText(4, subject)
	return do(s)
}
