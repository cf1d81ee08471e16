package httpapi

import (
	"net/http"
	"net/url"

	"github.com/rotajobs/rota"
)

// TemplateRequest creates a template, or changes the fields it names.
type TemplateRequest struct {
	Name           Opt[string]   `json:"name,omitzero" doc:"Name: letters, digits and . _ - : / @ #. It cannot be changed."`
	Type           Opt[string]   `json:"type,omitzero" doc:"Type of its jobs; it must be declared."`
	Description    Opt[string]   `json:"description,omitzero" doc:"Text for people."`
	DefaultParams  Opt[Document] `json:"default_params,omitzero" alias:"params" doc:"Default params. The params of a job replace them key by key."`
	Priority       Opt[int]      `json:"priority,omitzero" doc:"Priority of jobs that set none."`
	ConcurrencyKey Opt[string]   `json:"concurrency_key,omitzero" doc:"Concurrency key of jobs that set none."`
	UniqueFor      Opt[Duration] `json:"unique_for,omitzero" doc:"Shortest time a unique key is held, for jobs that set none."`
	PolicyRequest
	Webhooks Opt[[]WebhookRequest] `json:"webhooks,omitzero" alias:"webhook" doc:"Webhooks that receive the events of its jobs. A change names all of them."`
}

func (r *TemplateRequest) apply(s *rota.TemplateSpec) {
	r.Type.setValue(&s.Type)
	r.Description.setValue(&s.Description)
	if r.DefaultParams.Set {
		s.Params = nil
		if r.DefaultParams.Value != nil {
			s.Params = r.DefaultParams.Value.raw()
		}
	}
	r.Priority.setPointer(&s.Priority)
	r.ConcurrencyKey.setValue(&s.ConcurrencyKey)
	if r.UniqueFor.Set {
		s.UniqueFor = 0
		if r.UniqueFor.Value != nil {
			s.UniqueFor = *spanOf(r.UniqueFor.Value)
		}
	}
	r.PolicyRequest.apply(&s.Policy)
	if r.Webhooks.Set {
		var given []WebhookRequest
		r.Webhooks.setValue(&given)
		s.Webhooks = mergeWebhooks(given, s.Webhooks)
	}
}

func (a *api) templateRoutes() {
	get(a, operation{
		method: "GET", path: "/templates", id: "list-templates", tag: "Templates", summary: "List templates", description: "By name.",
		query: pageParams(), response: List[Template]{},
	}, func(c *call) (reply, error) {
		return listNamed(c, cursorTemplates, c.Store.Templates, NewTemplate,
			func(t *rota.Template) string { return t.Name }, func(t *rota.Template) int { return len(t.Spec.Params) })
	})
	route(a, operation{
		method: "POST", path: "/templates", id: "create-template", tag: "Templates", summary: "Create a template",
		example: `{"name": "welcome", "type": "mail", "default_params": {"subject": "Welcome"}, "max_retries": 5, "backoff": "10s", "timeout": "30s"}`,
		status:  201, required: []string{"name", "type"}, response: Template{}, errors: []int{409},
	}, createTemplate)
	get(a, operation{
		method: "GET", path: "/templates/{name}", id: "get-template", tag: "Templates", summary: "Show a template",
		response: Template{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		t, err := c.Store.Template(c.ctx, c.name())
		if err != nil {
			return reply{}, err
		}
		return ok(NewTemplate(t))
	})
	route(a, operation{
		method: "PATCH", path: "/templates/{name}", id: "change-template", tag: "Templates", summary: "Change a template",
		description: "Changes only the fields in the request; null returns a field to its default. Existing jobs stay unchanged.",
		example:     `{"timeout": "1m", "priority": null}`, response: Template{}, errors: []int{404, 409},
	}, changeTemplate)
	get(a, operation{
		method: "POST", path: "/templates/{name}/archive", id: "archive-template", tag: "Templates", summary: "Archive a template",
		description: "Existing jobs continue, new jobs are refused, and its schedules are disabled.", response: TemplateArchived{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return putTemplate(c, &rota.Archive{Meta: c.meta(), Name: c.name()})
	})
	get(a, operation{
		method: "POST", path: "/templates/{name}/unarchive", id: "unarchive-template", tag: "Templates", summary: "Unarchive a template",
		description: "Its schedules stay disabled.", response: TemplateArchived{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return putTemplate(c, &rota.Unarchive{Meta: c.meta(), Name: c.name()})
	})
}

func createTemplate(c *call, body *TemplateRequest) (reply, error) {
	command := &rota.PutTemplate{Meta: c.meta(), Mode: rota.PutCreate}
	body.Name.setValue(&command.Name)
	body.apply(&command.Spec)
	if err := body.check(c, command); err != nil {
		return reply{}, err
	}
	put, err := do[*rota.TemplatePut](c, command)
	if err != nil {
		return reply{}, templateError(err)
	}
	return created(NewTemplate(put.Template), base+"/templates/"+url.PathEscape(command.Name))
}

// check validates the command, and refuses an undeclared type, which the store does not check.
func (r *TemplateRequest) check(c *call, command *rota.PutTemplate) error {
	if err := templateError(command.Validate()); err != nil || c.replay {
		return err
	}
	_, err := c.findType(command.Spec.Type)
	return err
}

func templateError(err error) error { return renameFields(err, "params", "default_params") }

func changeTemplate(c *call, body *TemplateRequest) (reply, error) {
	if body.Name.Set && (body.Name.Value == nil || *body.Name.Value != c.name()) {
		return reply{}, rota.Invalidf("name", "cannot be changed: its jobs refer to it")
	}
	meta := c.meta()
	return retryConflict(func() (reply, error) {
		t, err := c.Store.Template(c.ctx, c.name())
		if err != nil {
			return reply{}, err
		}
		if c.replay && c.templateChanged(meta, t) {
			return ok(NewTemplate(t))
		}
		command := &rota.PutTemplate{Meta: meta, Name: t.Name, Mode: rota.PutReplace, Version: &t.Version, Spec: t.Spec}
		body.apply(&command.Spec)
		if err := body.check(c, command); err != nil {
			return reply{}, err
		}
		put, err := do[*rota.TemplatePut](c, command)
		if err != nil {
			return reply{}, templateError(err)
		}
		return ok(NewTemplate(put.Template))
	})
}

func putTemplate(c *call, command rota.Command) (reply, error) {
	put, err := do[*rota.TemplatePut](c, command)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: TemplateArchived{Template: NewTemplate(put.Template), SchedulesDisabled: put.Disabled}}, nil
}

// retryConflict repeats a change while other requests change the same row in between, a bounded number
// of times.
func retryConflict(change func() (reply, error)) (answer reply, err error) {
	for range 10 {
		answer, err = change()
		e, isRotaError := err.(*rota.Error)
		if !isRotaError || e.Code != rota.Conflict || e.Field != "version" {
			return answer, err
		}
	}
	return answer, err
}
