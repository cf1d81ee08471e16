package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
	"zombiezen.com/go/sqlite"
)

// scheduleSet is a set of schedules with one template. Their names are hashes, so that schedules that are due together
// are not adjacent.
type scheduleSet struct {
	size int
	from time.Time                     // creation time
	spec func(i int) rota.ScheduleSpec // spec of schedule i
}

func (c scheduleSet) counts() counts { return counts{schedules: c.size} }

const scheduleTemplate = "bench"

// template returns a template for the same jobs that the other cases enqueue.
func (c scheduleSet) template() *rota.PutTemplate {
	spec := rota.TemplateSpec{Type: jobType, Params: []byte(paramsText())}
	return &rota.PutTemplate{Meta: rota.NewMeta(""), Name: scheduleTemplate, Spec: spec}
}

func scheduleName(i int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return fmt.Sprintf("bench-%x", sum[:8])
}

// declare returns the command that creates a schedule.
func (c scheduleSet) declare(i int) (*rota.PutSchedule, error) {
	spec := c.spec(i)
	spec.Template = scheduleTemplate
	return rota.Declare(rota.NewMeta(""), scheduleName(i), spec, c.from)
}

const (
	insertTemplate = `
INSERT INTO rota_templates (name, type, version, created_at, updated_at, spec, since)
VALUES (?, ?, ?, ?, ?, ?, ?4)`
	insertSchedule = `
INSERT INTO rota_schedules (name, template, anchor, next_fire, moved_at, version, created_at, updated_at, spec, since)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?7)`
	insertDefinition = `
INSERT INTO rota_definitions (id, name)
VALUES (?, ?)`
	insertAudit = `
INSERT INTO rota_audit (id, at, act, subject, schedule, changes, actor, outcome)
VALUES (?, ?, ?, ?, ?, ?, 'rota', 'OK')`
	// The next open seals these entries.
	insertUnsealed = `
INSERT INTO rota_audit_unsealed (n, at, ids)
SELECT seq, at, id
FROM rota_audit
ORDER BY seq`
)

// make writes the same rows as the commands, which would take minutes for a million schedules. A test compares the two.
func (c scheduleSet) make(path string) error { return writeDirectly(path, c.fill) }

// fill writes the schedules in the order of their names, so that it appends to the tables.
func (c scheduleSet) fill(conn *sqlite.Conn) error {
	w := &scheduleWriter{at: c.from.UnixMicro()}
	for sql, stmt := range map[string]**sqlite.Stmt{
		insertTemplate: &w.template, insertSchedule: &w.schedule, insertDefinition: &w.definition, insertAudit: &w.audit,
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
	return script(conn, insertUnsealed)
}

// byName returns the indexes of the schedules in the order of their names.
func (c scheduleSet) byName() []int {
	names, order := make([]string, c.size), make([]int, c.size)
	for i := range order {
		names[i], order[i] = scheduleName(i), i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	return order
}

type scheduleWriter struct {
	template, schedule, definition, audit *sqlite.Stmt

	at           int64
	templateSpec []byte // of all schedules
}

func (w *scheduleWriter) addTemplate(c *rota.PutTemplate) error {
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
	w.audit.BindNull(5)
	w.templateSpec = auditDocument(c.Spec.Canonical())
	return w.addAudit(c, rota.AuditTemplateCreated, "template "+c.Name, auditDocument(struct {
		State rota.TemplateState `json:"state"`
		Owner string             `json:"owner"`
		rota.TemplateSpec
	}{rota.TemplateActive, rota.AdminUser, c.Spec.Canonical()}))
}

func (w *scheduleWriter) addSchedule(c *rota.PutSchedule) error {
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
	w.audit.BindText(5, c.Name)
	return w.addAudit(c, rota.AuditScheduleCreated, "schedule "+c.Name, diff.WithTemplate(auditDocument(struct {
		State rota.ScheduleState `json:"state"`
		Owner string             `json:"owner"`
		rota.ScheduleSpec
	}{rota.ScheduleEnabled, rota.AdminUser, c.Spec}), w.templateSpec))
}

// auditDocument encodes a document as the rules do for the audit.
func auditDocument(document any) []byte {
	return diff.Durations(document, rota.EncodeSpec(document), rota.FormatDuration)
}

func (w *scheduleWriter) addAudit(c rota.Command, act, subject string, created []byte) error {
	id, s := rota.AuditNameID(c.Head().ID, c.Verb(), subject), w.audit
	s.BindBytes(1, id[:])
	s.BindInt64(2, w.at)
	s.BindText(3, act)
	s.BindText(4, subject)
	s.BindText(6, string(diff.Documents(nil, created)))
	return do(s)
}
