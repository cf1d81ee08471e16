package rules

import "github.com/rotajobs/rota"

const WebhooksSubject = "webhooks"

// decidePutWebhooks sets the webhooks of all events. They receive the events of
// this very step. The audit entry contains the webhooks without their
// secrets.
func decidePutWebhooks(u *UnitOfWork, c *rota.PutWebhooks) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, WebhooksSubject)
	wantSealedWebhooks(u, c.Spec)
	h := Webhooks.get(u, one)
	if h == nil {
		h = &rota.Webhooks{}
	}
	switch {
	case u.auditedSubject(c, WebhooksSubject):
		return &rota.WebhooksPut{Webhooks: h}, nil
	case c.Version != nil && *c.Version != h.Version:
		return nil, changedSince("the list of webhooks")
	case rota.EqualWebhooks(h.Spec, c.Spec):
		return &rota.WebhooksPut{Webhooks: h}, nil
	}
	if refusal := mayPutWebhooks(u, h.Spec, c.Spec); refusal != nil {
		return nil, refusal
	}
	next := &rota.Webhooks{Spec: rota.CanonicalWebhooks(c.Spec), Version: c.ID, UpdatedBy: c.Actor, UpdatedAt: u.Now}
	Webhooks.set(u, one, next)
	u.auditSubject(c, rota.AuditWebhooksModified, WebhooksSubject, "", webhooksChanges(h, next))
	return &rota.WebhooksPut{Webhooks: next, Changed: true}, nil
}
