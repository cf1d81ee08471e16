package access

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// The webhooks of a template receive the params and results of its jobs, and stay when a right is revoked. Only an
// administrator may therefore add one, and only administrators and the owner of the template see the addresses.

// seesWebhooks reports whether the webhooks of a template are visible.
func (a *authority) seesWebhooks(t *object) bool {
	return a.seesEverything() || a.owns(t) && a.reaches(t.name)
}

// putWebhooks requires ADMIN for a change of the webhooks of a template. The owner may remove some, which it could also do
// by creating the template again. A caller that does not see them sends none, and leaves them as they are.
func (k *check) putWebhooks(c *rota.PutTemplate, t *object) error {
	var stored []rota.Webhook
	if !t.vacant() && !c.Recreate {
		stored = t.webhooks
	}
	switch given := c.Spec.Webhooks; {
	case k.unrestricted() || rota.EqualWebhooks(given, stored):
		return nil
	case k.owns(t) && containsWebhooks(stored, given):
		return nil
	case len(given) == 0 && !k.seesWebhooks(t):
		c.Spec.Webhooks = stored
		if c.Version == nil && !t.version.IsZero() {
			c.Version = &t.version // an administrator may remove them meanwhile
		}
		return nil
	}
	refusal := k.missingOnAll(rota.Admin)
	refusal.Reason += ", which a change of webhooks needs"
	return refusal
}

// containsWebhooks reports whether all of some webhooks are stored as they are.
func containsWebhooks(stored, some []rota.Webhook) bool {
	return !slices.ContainsFunc(some, func(h rota.Webhook) bool {
		return !slices.ContainsFunc(stored, func(s rota.Webhook) bool { return rota.EqualWebhooks([]rota.Webhook{s}, []rota.Webhook{h}) })
	})
}

// shownTemplate returns a template as the identity may see it.
func (a *authority) shownTemplate(t *rota.Template) *rota.Template {
	if t == nil || len(t.Spec.Webhooks) == 0 || a.seesWebhooks(templateObject(t)) {
		return t
	}
	shown := *t
	shown.Spec.Webhooks = nil
	return &shown
}

// withoutWebhooks removes the webhooks from the changes of an audit entry.
func withoutWebhooks(changes json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(changes, &fields) != nil {
		return changes
	}
	hidden := false
	for name := range fields {
		if strings.HasPrefix(strings.TrimPrefix(name, "template."), "webhooks") {
			delete(fields, name)
			hidden = true
		}
	}
	if !hidden {
		return changes
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return text
}
