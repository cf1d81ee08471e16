package httpapi

import (
	"net/url"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (a *server) templateRoutes() {
	get(a, operation{
		method: "GET", path: "/templates", id: "list-templates", scope: readScope, tag: "Templates", summary: "List templates", description: "By name.",
		query: pageParams(), response: api.List[api.Template]{},
	}, func(c *call) (reply, error) {
		return namedList(c, cursorTemplates, c.Store.Templates, api.NewTemplate,
			func(t *rota.Template) string { return t.Name }, func(t *rota.Template) int { return len(t.Spec.Params) })
	})
	route(a, operation{
		method: "POST", path: "/templates", id: "create-template", scope: writeScope, tag: "Templates", summary: "Create a template",
		example: `{"name": "welcome", "type": "mail", "default_params": {"subject": "Welcome"}, "max_retries": 5, "backoff": "10s", "timeout": "30s"}`,
		status:  201, secret: true, required: []string{"name", "type"}, response: api.Template{}, errors: []int{409},
	}, createTemplate)
	get(a, operation{
		method: "GET", path: "/templates/{name}", id: "get-template", scope: readScope, tag: "Templates", summary: "Show a template",
		response: api.Template{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return show(api.NewTemplate)(c.Store.Template(c.ctx, c.name()))
	})
	route(a, operation{
		method: "PATCH", path: "/templates/{name}", version: templateVersion, id: "change-template", scope: writeScope, tag: "Templates", summary: "Change a template",
		description: "Changes only the fields in the request; null returns a field to its default. Existing jobs stay unchanged. A change of owner has no other fields, and needs ADMIN.",
		example:     `{"timeout": "1m", "priority": null}`, secret: true, response: api.Template{}, errors: []int{404, 409},
	}, changeTemplate)
	get(a, operation{
		method: "POST", path: "/templates/{name}/archive", version: templateVersion, id: "archive-template", scope: writeScope, tag: "Templates", summary: "Archive a template",
		description: "Existing jobs continue, new jobs are refused, and its schedules are disabled.", response: api.TemplateArchived{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return archiveTemplate(c, &rota.Archive{Meta: c.meta(), Name: c.name(), Version: c.required})
	})
	get(a, operation{
		method: "POST", path: "/templates/{name}/unarchive", version: templateVersion, id: "unarchive-template", scope: writeScope, tag: "Templates", summary: "Unarchive a template",
		description: "Its schedules stay disabled.", response: api.TemplateArchived{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return archiveTemplate(c, &rota.Unarchive{Meta: c.meta(), Name: c.name(), Version: c.required})
	})
}

func createTemplate(c *call, body *api.TemplateRequest) (reply, error) {
	if err := refuseOwner(body.Owner, ownerOfNew); err != nil {
		return reply{}, err
	}
	command := &rota.PutTemplate{Meta: c.meta(), Mode: rota.PutCreate}
	body.Name.SetValue(&command.Name)
	body.Apply(&command.Spec)
	return then(func(t *rota.Template) (reply, error) {
		return created(api.NewTemplate(t), base+"/templates/"+url.PathEscape(t.Name))
	})(c.putTemplate(command, nil))
}

// putTemplate validates and sends the command. It refuses an undeclared type and default params that the type refuses, which
// the store does not check. stored are the webhooks that the template has.
func (c *call) putTemplate(command *rota.PutTemplate, stored []rota.Webhook) (*rota.Template, error) {
	err := command.Validate()
	if err == nil {
		command.Spec.Webhooks, err = c.sealWebhooks(command, command.Name, command.Spec.Webhooks, stored)
	}
	if err == nil && !c.replay {
		var t *rota.Type
		if t, err = c.lookup().Type(command.Spec.Type); err == nil {
			err = c.lookup().CheckDefaults(t, command.Spec.Params)
		}
	}
	if err != nil {
		return nil, templateError(err)
	}
	put, err := do[*rota.TemplatePut](c, command)
	if err != nil {
		return nil, templateError(err)
	}
	return put.Template, nil
}

func templateError(err error) error { return problem.Rename(err, "params", "default_params") }

func changeTemplate(c *call, body *api.TemplateRequest) (reply, error) {
	if body.Name.Set && (body.Name.Value == nil || *body.Name.Value != c.name()) {
		return reply{}, rota.Invalidf("name", "cannot be changed: its jobs refer to it")
	}
	if body.Owner.Set && body.OnlyOwner() {
		return show(func(set *rota.OwnerSet) api.Template { return api.NewTemplate(set.Template) })(c.setOwner(rota.ExpectTemplate, body.Owner.Value))
	}
	if err := refuseOwner(body.Owner, ownerOfChange); err != nil {
		return reply{}, err
	}
	meta := c.meta()
	return c.retryConflict(func() (reply, error) {
		t, err := c.Store.Template(c.ctx, c.name())
		if err != nil || c.replay && c.templateChanged(meta, t) {
			return show(api.NewTemplate)(t, err)
		}
		command := &rota.PutTemplate{Meta: meta, Name: t.Name, Mode: rota.PutReplace, Version: c.versionOr(&t.Version), Spec: t.Spec}
		body.Apply(&command.Spec)
		return show(api.NewTemplate)(c.putTemplate(command, t.Spec.Webhooks))
	})
}

// archiveTemplate archives a template or makes it active again.
func archiveTemplate(c *call, command rota.Command) (reply, error) {
	return show(func(put *rota.TemplatePut) api.TemplateArchived {
		return api.TemplateArchived{Template: api.NewTemplate(put.Template), SchedulesDisabled: put.Disabled}
	})(do[*rota.TemplatePut](c, command))
}

// retryConflict repeats a change while other requests change the same row, or a rotation the key of the store, in between, a bounded number
// of times. A request that requires a version is not repeated.
func (c *call) retryConflict(change func() (reply, error)) (answer reply, err error) {
	for range 10 {
		answer, err = change()
		e, isRotaError := err.(*rota.Error)
		if c.required != nil || !isRotaError || e.Code != rota.Conflict || e.Field != "version" && !keyReplaced(err) {
			return answer, err
		}
	}
	return answer, err
}
