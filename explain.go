package rota

import "time"

// ReasonCode is the kind of a reason why a job does not run.
type ReasonCode string

// The reasons. An explanation lists them in this order, the most important first.
const (
	ReasonEnded       ReasonCode = "ended"       // it has ended
	ReasonRunning     ReasonCode = "running"     // it is running
	ReasonEnding      ReasonCode = "ending"      // its group was cancelled or stopped
	ReasonPaused      ReasonCode = "paused"      // its type is paused
	ReasonDelay       ReasonCode = "delay"       // run_at is in the future
	ReasonRetry       ReasonCode = "retry"       // it waits for its backoff
	ReasonDependency  ReasonCode = "dependency"  // a dependency has not completed
	ReasonGroup       ReasonCode = "group"       // other members of its group run first
	ReasonOverlap     ReasonCode = "overlap"     // an earlier execution of its schedule has not ended
	ReasonKeyLimit    ReasonCode = "key_limit"   // the limit of its concurrency key is reached
	ReasonGlobalLimit ReasonCode = "global"      // the global limit is reached
	ReasonTypeLimit   ReasonCode = "type_limit"  // the limit of its type is reached
	ReasonRate        ReasonCode = "rate"        // the rate of its type is exhausted
	ReasonReservation ReasonCode = "reservation" // a node is reserved for a direct run
	ReasonOrder       ReasonCode = "order"       // other jobs are first, or no worker has claimed it yet
)

// ReasonCodes lists every code, the most important first.
var ReasonCodes = []ReasonCode{
	ReasonEnded, ReasonRunning, ReasonEnding, ReasonPaused, ReasonDelay, ReasonRetry, ReasonDependency, ReasonGroup,
	ReasonOverlap, ReasonKeyLimit, ReasonGlobalLimit, ReasonTypeLimit, ReasonRate, ReasonReservation, ReasonOrder,
}

// Reason is one reason why a job does not run.
type Reason struct {
	Code   ReasonCode
	Text   string    // the reason, as a sentence
	Remedy string    // what the user can do, as a sentence
	Until  time.Time // when the reason ends by itself; zero: unknown
	Jobs   []ID      // jobs it waits for; at most a few
}
