package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	templateColumns = `
SELECT name, state, version, created_by, created_at, updated_at, spec
FROM rota_templates`
	sqlTemplate = templateColumns + `
WHERE name = ?`
	sqlTemplates = templateColumns + `
WHERE name > ?
ORDER BY name
LIMIT +?`
	sqlInsertTemplate = `
INSERT OR ROLLBACK INTO rota_templates (name, type, state, version, updated_at, spec, webhooks, created_by, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlUpdateTemplate = `
UPDATE OR ROLLBACK rota_templates
SET type = ?2, state = ?3, version = ?4, updated_at = ?5, spec = ?6, webhooks = ?7
WHERE name = ?1`
	sqlDeleteTemplate = `
DELETE FROM rota_templates
WHERE name = ?`
)

func scanTemplate(s *sqlite.Stmt) (*rota.Template, error) {
	t := &rota.Template{
		Name: s.ColumnText(0), State: rota.TemplateState(s.ColumnText(1)), Version: scanID(s, 2), CreatedBy: s.ColumnText(3),
		CreatedAt: scanTime(s, 4), UpdatedAt: scanTime(s, 5),
	}
	return t, scanSpec(s, 6, &t.Spec, "template "+t.Name)
}

func (w *writer) loadTemplate(name string, u *rules.UnitOfWork) error {
	return w.query(sqlTemplate, func(s *sqlite.Stmt) { s.BindText(1, name) }, scanInto(scanTemplate, rules.Templates.Into(u)))
}

func (w *writer) writeTemplate(c rules.Change[string, rota.Template]) error {
	if c.Was != nil && len(c.Was.Spec.Webhooks) > 0 || c.Is != nil && len(c.Is.Spec.Webhooks) > 0 {
		w.hooks = hooksCache{}
	}
	sql := changeSQL(c.Was == nil, c.Is == nil, sqlInsertTemplate, sqlUpdateTemplate, sqlDeleteTemplate)
	return w.change(sql, func(s *sqlite.Stmt) {
		s.BindText(1, c.Key)
		if c.Is == nil {
			return
		}
		s.BindText(2, c.Is.Spec.Type)
		s.BindText(3, string(c.Is.State))
		bindID(s, 4, c.Is.Version)
		bindTime(s, 5, c.Is.UpdatedAt)
		bindSpec(s, 6, c.Is.Spec)
		s.BindInt64(7, int64(len(c.Is.Spec.Webhooks)))
		if c.Was == nil {
			bindText(s, 8, c.Is.CreatedBy)
			bindTime(s, 9, c.Is.CreatedAt)
		}
	})
}

// Template returns a template by its name.
func (s *reader) Template(ctx context.Context, name string) (*rota.Template, error) {
	return readOne(ctx, s, "template", name, sqlTemplate, func(stmt *sqlite.Stmt) { stmt.BindText(1, name) }, scanTemplate)
}

// Templates lists templates by name.
func (s *reader) Templates(ctx context.Context, q rota.NameQuery) ([]*rota.Template, error) {
	return readNames(ctx, s, "templates", sqlTemplates, q, scanTemplate)
}
