package rota

import "time"

// ReasonCode names why a job does not run.
type ReasonCode string

// The reasons, most important first: an explanation lists them in this order.
const (
	ReasonEnded       ReasonCode = "ended"       // it has run, or will never run
	ReasonRunning     ReasonCode = "running"     // it runs now
	ReasonEnding      ReasonCode = "ending"      // its group was ended
	ReasonPaused      ReasonCode = "paused"      // its type is paused
	ReasonDelay       ReasonCode = "delay"       // its time has not come
	ReasonRetry       ReasonCode = "retry"       // it waits before it is tried again
	ReasonDependency  ReasonCode = "dependency"  // what it depends on has not completed
	ReasonGroup       ReasonCode = "group"       // others of its group come first
	ReasonOverlap     ReasonCode = "overlap"     // an earlier execution of its schedule has not ended
	ReasonKeyLimit    ReasonCode = "key_limit"   // its concurrency key is at its limit
	ReasonGlobalLimit ReasonCode = "global"      // everything is at its limit
	ReasonTypeLimit   ReasonCode = "type_limit"  // its type is at its limit
	ReasonRate        ReasonCode = "rate"        // its type has started as often as it may
	ReasonReservation ReasonCode = "reservation" // a node is reserved for a direct run
	ReasonOrder       ReasonCode = "order"       // others come first, or a worker has yet to take it
)

// ReasonCodes lists every reason, most important first.
var ReasonCodes = []ReasonCode{
	ReasonEnded, ReasonRunning, ReasonEnding, ReasonPaused, ReasonDelay, ReasonRetry, ReasonDependency, ReasonGroup,
	ReasonOverlap, ReasonKeyLimit, ReasonGlobalLimit, ReasonTypeLimit, ReasonRate, ReasonReservation, ReasonOrder,
}

// Reason is one thing that keeps a job from running.
type Reason struct {
	Code   ReasonCode
	Text   string    // what it is, as a sentence
	Remedy string    // what would change it, as a sentence
	Until  time.Time // when it ends by itself, if that is known
	Jobs   []ID      // whom it waits for, if that is known; at most a few
}
