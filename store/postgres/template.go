package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	templateColumns = `
SELECT name, state, version, created_by, created_at, updated_at, spec, xmin
FROM rota_templates`
	sqlTemplate = templateColumns + `
WHERE name = ANY ($1)`
	sqlTemplates = templateColumns + `
WHERE name > $1
ORDER BY name
LIMIT $2`
	sqlInsertTemplate = `
INSERT INTO rota_templates (name, type, state, version, updated_at, spec, webhooks, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	sqlUpdateTemplate = `
UPDATE rota_templates
SET type = $2, state = $3, version = $4, updated_at = $5, spec = $6, webhooks = $7
WHERE name = $1`
	sqlDeleteTemplate = `
DELETE FROM rota_templates
WHERE name = $1`
)

func scanTemplate(r row) (*rota.Template, error) {
	t := &rota.Template{
		Name: r.Text(0), State: rota.TemplateState(r.Text(1)), Version: r.ID(2), CreatedBy: r.Text(3),
		CreatedAt: r.Time(4), UpdatedAt: r.Time(5),
	}
	return t, scanSpec(r, 6, &t.Spec, "template "+t.Name)
}

func (t *tx) loadTemplates(names []string, u *rules.UnitOfWork) []statement {
	return loadNamed(t, classTemplate, sqlTemplate, names, scanTemplate, rules.Templates.Into(u))
}

func (t *tx) writeTemplate(c rules.Change[string, rota.Template]) []statement {
	if c.Was != nil && len(c.Was.Spec.Webhooks) > 0 || c.Is != nil && len(c.Is.Spec.Webhooks) > 0 {
		t.readSet.hooks.forget()
	}
	params := []param{textNotNull(c.Key)}
	if c.Is != nil {
		params = append(params, textNotNull(c.Is.Spec.Type), textNotNull(string(c.Is.State)), idParam(c.Is.Version),
			timeParam(c.Is.UpdatedAt), specParam(c.Is.Spec), intParam(int64(len(c.Is.Spec.Webhooks))))
		if c.Was == nil {
			params = append(params, textParam(c.Is.CreatedBy), timeParam(c.Is.CreatedAt))
		}
	}
	return []statement{{sql: changeSQL(c.Was == nil, c.Is == nil, sqlInsertTemplate, sqlUpdateTemplate, sqlDeleteTemplate), params: params}}
}

// Template returns a template by its name.
func (s *reader) Template(ctx context.Context, name string) (*rota.Template, error) {
	return readOne(ctx, s, "template", name, scanTemplate, sqlTemplate)
}

// Templates lists templates by name.
func (s *reader) Templates(ctx context.Context, q rota.NameQuery) ([]*rota.Template, error) {
	return readNames(ctx, s, "templates", q, scanTemplate, sqlTemplates)
}
