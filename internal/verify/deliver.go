package verify

import "github.com/rotajobs/rota"

// delivery checks that a delivery job is one that the rules create for an
// event, and that it does not affect other jobs.
func (v *Verifier) delivery(j *rota.Job) {
	if j.Type != rota.TypeWebhook {
		return
	}
	d, err := rota.ParseDelivery(j.Params)
	if err != nil {
		v.jobViolation(j.ID, rota.CheckDeliveryShape, "its event cannot be decoded: %v", err)
		return
	}
	want := rota.DeliveryID(j.Params, d.Event, d.Time)
	v.require(j.ExecutionID != j.ID || !j.RedriveOf.IsZero() || j.ID == want, j, rota.CheckDeliveryShape,
		"its id does not match its event; it should be %s", want)
	webhooks := rota.PutWebhooks{Spec: []rota.Webhook{{URL: d.URL, Events: []rota.EventKind{d.Event}, Secret: "known"}}}
	v.require(webhooks.Validate() == nil, j, rota.CheckDeliveryShape, "its URL %q or its event %q is not valid", d.URL, d.Event)
	v.require(j.Priority == rota.PriorityMin && j.Position == 0, j, rota.CheckDeliveryShape,
		"it has position %d and priority %d; a delivery has position 0 and the lowest priority", j.Position, j.Priority)
	v.require(j.Template == "" && j.Schedule == "" && j.GroupID.IsZero() && j.UniqueKey == "" && j.ConcurrencyKey == "", j,
		rota.CheckDeliveryShape, "it has a template, schedule, group, unique key or concurrency key")
}
