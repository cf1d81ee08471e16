package definitions

import (
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (p *plan) planLimits() error {
	if p.body.Limits == nil {
		return nil
	}
	spec, err := p.body.Limits.Spec()
	if err == nil {
		command := &rota.PutThrottle{Meta: p.meta("limits"), Spec: spec}
		if err = problem.OfLimits(command.Validate(), &spec); err == nil {
			err = p.planThrottle(command)
		}
	}
	if err != nil {
		return p.addError("limits", err)
	}
	return nil
}

func (p *plan) planThrottle(command *rota.PutThrottle) error {
	current, err := p.Store.Throttle(p.ctx)
	if err != nil {
		return err
	}
	unknown := slices.DeleteFunc(LimitedTypes(&command.Spec), func(l LimitedType) bool { return p.types.get(l.Type) != nil })
	if err := p.checkLimits(unknown); err != nil {
		return err
	}
	before, after := api.NewLimitsDefinition(&current.Spec), api.NewLimitsDefinition(&command.Spec)
	var currentShown any = before
	if before == nil {
		currentShown = &api.ThrottleRequest{}
	}
	if after == nil {
		after = &api.ThrottleRequest{}
	}
	if p.addItem("limits", "", currentShown, after, p.changedByRequest(current.Version, false, "limits")) {
		command.Version = &current.Version
		p.addCommand("limits", command)
	}
	return nil
}

func (p *plan) planWebhooks() error {
	if p.body.Webhooks == nil {
		return nil
	}
	current, err := p.Store.Webhooks(p.ctx)
	if err != nil {
		return err
	}
	command := &rota.PutWebhooks{Meta: p.meta("webhooks"), Version: &current.Version}
	if command.Spec, err = p.fillSecrets(p.body.Webhooks, current.Spec); err != nil {
		return p.addError("webhooks", err)
	}
	if err := command.Validate(); err != nil {
		return p.addError("webhooks", withoutName(err, "webhooks"))
	}
	if command.Spec, err = p.matchWebhooks("", command.Spec, current.Spec); err != nil {
		return p.addError("webhooks", withoutName(err, "webhooks"))
	}
	before, after := api.NewWebhookDefinitions(current.Spec, true), api.NewWebhookDefinitions(command.Spec, true)
	changes := p.addItem("webhooks", "", before, after, p.changedByRequest(current.Version, false, "webhooks"))
	p.items[len(p.items)-1].Fields = nil // a list has no fields
	if changes {
		p.addCommand("webhooks", command)
	}
	return nil
}

// checkLimits refuses limits of undeclared types, unless the request is a replay.
func (p *plan) checkLimits(limits []LimitedType) error {
	if p.request.Replay {
		return nil
	}
	return p.CheckLimits(limits)
}

// withoutName removes a name from the front of the field of an error, because the path of the
// definition already contains it.
func withoutName(err error, name string) error {
	return problem.Rename(err, name, "")
}

// fillSecrets sets the secrets that a document omits to those of the stored webhooks.
func (p *plan) fillSecrets(defs []api.WebhookDefinition, stored []rota.Webhook) ([]rota.Webhook, error) {
	hooks := api.DefinedWebhooks(defs)
	for i := range hooks {
		if hooks[i].Secret != "" {
			continue
		}
		at := slices.IndexFunc(stored, func(h rota.Webhook) bool { return h.URL == hooks[i].URL })
		if at < 0 {
			return nil, problem.New(rota.Invalid, fmt.Sprintf("[%d].secret", i), "set the secret, or export with secrets",
				"is missing, and there is no stored webhook with this address whose secret could be kept")
		}
		hooks[i].Secret = stored[at].Secret
	}
	return hooks, nil
}
