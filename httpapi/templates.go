package httpapi

import (
	"net/http"
	"net/url"

	"github.com/rotajobs/rota"
)

// TemplateRequest declares a template, or changes what it names of one.
type TemplateRequest struct {
	Name           Opt[string]   `json:"name,omitzero" doc:"Letters, digits and . _ - : / @ #. It cannot be changed."`
	Type           Opt[string]   `json:"type,omitzero" doc:"A type that was declared."`
	Description    Opt[string]   `json:"description,omitzero" doc:"What it is, for people."`
	DefaultParams  Opt[Document] `json:"default_params,omitzero" alias:"params" doc:"What a job's params are laid over, key by key."`
	Priority       Opt[int]      `json:"priority,omitzero" doc:"Of jobs that name none."`
	ConcurrencyKey Opt[string]   `json:"concurrency_key,omitzero" doc:"Of jobs that name none."`
	UniqueFor      Opt[Duration] `json:"unique_for,omitzero" doc:"How long the key of a job is held at least, if the job does not say."`
	PolicyRequest
	Webhooks Opt[[]WebhookRequest] `json:"webhooks,omitzero" alias:"webhook" doc:"Told of the jobs that are made from it. A change names all of them."`
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
		description: "Only what is named changes; null goes back to the default. Jobs that were made from it stay as they are.",
		example:     `{"timeout": "1m", "priority": null}`, response: Template{}, errors: []int{404, 409},
	}, changeTemplate)
	get(a, operation{
		method: "POST", path: "/templates/{name}/archive", id: "archive-template", tag: "Templates", summary: "Archive a template",
		description: "Its jobs are left alone, new ones are refused, its schedules are disabled.", response: TemplateArchived{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return putTemplate(c, &rota.Archive{Meta: c.meta(), Name: c.name()})
	})
	get(a, operation{
		method: "POST", path: "/templates/{name}/unarchive", id: "unarchive-template", tag: "Templates", summary: "Use a template again",
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

// check refuses what no store can see: a type that nobody declared.
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
		return reply{}, rota.Invalidf("name", "cannot be changed: what was made goes by it")
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

// retryConflict repeats a change of what was read as long as others change it in
// between, within reason.
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
