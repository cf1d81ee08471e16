// Package scrub removes secrets from data that leaves the server: params and error
// texts in reports and traces. It hides too much rather than too little. Scrubbing
// its own output changes nothing.
package scrub

// Hidden replaces a secret.
const Hidden = "[hidden]"
