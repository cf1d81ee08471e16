// Package action is the types that Rota brings along for what goes on outside of
// it: http sends a request, exec is declared and refused, and the jobs of
// rota.TypeWebhook tell webhooks what happened.
//
// Requests go where a stranger says, so all of them pass a [Guard]: it resolves a
// name once, looks at every address that comes back, and connects to those and no
// others. What lies inside the own network is out of bounds unless an [Allow]
// names it.
//
// [Sign] and [Verify] are how a webhook is signed, for receivers that are written
// in Go as well.
package action
