package httpapi

import (
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

func (p *plan) planLimits() error {
	if p.body.Limits == nil {
		return nil
	}
	spec, err := p.body.Limits.spec()
	if err == nil {
		command := &rota.PutThrottle{Meta: p.meta("limits"), Spec: spec}
		if err = limitError(command.Validate(), &spec); err == nil {
			err = p.planThrottle(command)
		}
	}
	if err != nil {
		return p.refuse("limits", err)
	}
	return nil
}

func (p *plan) planThrottle(command *rota.PutThrottle) error {
	was, err := p.c.Store.Throttle(p.c.ctx)
	if err != nil {
		return err
	}
	var unknown []rota.TypeLimit
	for _, limit := range command.Spec.Types {
		if p.types[limit.Type] == nil {
			unknown = append(unknown, limit)
		}
	}
	if err := p.c.checkLimits(unknown); err != nil {
		return err
	}
	before, after := newLimitsDefinition(&was.Spec), newLimitsDefinition(&command.Spec)
	var wasShown any = before
	if before == nil {
		wasShown = &ThrottleRequest{}
	}
	if after == nil {
		after = &ThrottleRequest{}
	}
	if p.item("limits", "", wasShown, after, p.wrote(was.Version, false, "limits")) {
		command.Version = &was.Version
		p.add("limits", command)
	}
	return nil
}

func (p *plan) planWebhooks() error {
	if p.body.Webhooks == nil {
		return nil
	}
	was, err := p.c.Store.Webhooks(p.c.ctx)
	if err != nil {
		return err
	}
	command := &rota.PutWebhooks{Meta: p.meta("webhooks"), Version: &was.Version}
	if command.Spec, err = p.withSecrets(p.body.Webhooks, was.Spec); err != nil {
		return p.refuse("webhooks", err)
	}
	if err := command.Validate(); err != nil {
		return p.refuse("webhooks", withoutName(err, "webhooks"))
	}
	before, after := newWebhookDefinitions(was.Spec, true), newWebhookDefinitions(command.Spec, true)
	changes := p.item("webhooks", "", before, after, p.wrote(was.Version, false, "webhooks"))
	p.items[len(p.items)-1].Fields = nil // a list has none
	if changes {
		p.add("webhooks", command)
	}
	return nil
}

// withoutName takes a name off the front of a refusal's field, for one that is
// the path of the definition already.
func withoutName(err error, name string) error {
	return rename(err, name, "")
}

// withSecrets fills in the secrets that a document leaves out by those of the
// webhooks that stand there.
func (p *plan) withSecrets(defs []WebhookDefinition, stored []rota.Webhook) ([]rota.Webhook, error) {
	hooks := definedWebhooks(defs)
	for i := range hooks {
		if hooks[i].Secret != "" {
			continue
		}
		at := slices.IndexFunc(stored, func(h rota.Webhook) bool { return h.URL == hooks[i].URL })
		if at < 0 {
			return nil, &rota.Error{
				Code: rota.Invalid, Field: fmt.Sprintf("[%d].secret", i), Reason: "is missing, and no webhook with this address stands there whose secret could be kept",
				Hint: "write the secret, or export with secrets",
			}
		}
		hooks[i].Secret = stored[at].Secret
	}
	return hooks, nil
}
