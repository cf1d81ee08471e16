package rules

import "github.com/rotajobs/rota"

// delivery: it is what the law makes of an event, and takes no place from others.
func (v *Verifier) delivery(j *rota.Job) {
	if j.Type != rota.TypeWebhook {
		return
	}
	d, err := rota.ParseDelivery(j.Params)
	if err != nil {
		v.jobViolation(j.ID, rota.CheckDeliveryShape, "what it is to tell cannot be read: %v", err)
		return
	}
	made := rota.DeliveryID(j.Params, d.Event, d.Time)
	v.require(j.ExecutionID != j.ID || !j.RedriveOf.IsZero() || j.ID == made, j, rota.CheckDeliveryShape,
		"its id is not that of what it is to tell, %s", made)
	webhooks := rota.PutWebhooks{Spec: []rota.Webhook{{URL: d.URL, Events: []rota.EventKind{d.Event}, Secret: "known"}}}
	v.require(webhooks.Validate() == nil, j, rota.CheckDeliveryShape, "it is to tell %q of %q", d.URL, d.Event)
	v.require(j.Priority == rota.PriorityMin && j.Position == 0, j, rota.CheckDeliveryShape,
		"it stands at position %d of priority %d", j.Position, j.Priority)
	v.require(j.Template == "" && j.Schedule == "" && j.GroupID.IsZero() && j.UniqueKey == "" && j.ConcurrencyKey == "", j,
		rota.CheckDeliveryShape, "it has to do with others")
}
