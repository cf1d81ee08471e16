// Package action is the types that Rota brings along for what goes on outside of
// it: http sends a request, sql and call work on databases, exec is declared and
// refused, and the jobs of rota.TypeWebhook tell webhooks what happened.
//
// Requests go where a stranger says, so all of them pass a [Guard]: it resolves a
// name once, looks at every address that comes back, and connects to those and no
// others. What lies inside the own network is out of bounds unless an [Allow]
// names it.
//
// Statements run on a [Target], in a transaction that holds a row of the table
// rota_effects too. That row is what makes them happen exactly once: it is there
// if and only if they were done, and an attempt that finds it does nothing.
//
// [Sign] and [Verify] are how a webhook is signed, for receivers that are written
// in Go as well.
package action
