// Package scrub takes secrets out of what leaves the house: params and error
// texts in reports and traces. It hides too much rather than too little, and
// what it has hidden once stays as it is.
package scrub

// Hidden stands where a secret stood.
const Hidden = "[hidden]"
