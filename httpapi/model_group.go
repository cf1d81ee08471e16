package httpapi

import "github.com/rotajobs/rota"

// Group is some jobs that belong together.
type Group struct {
	ID           ID         `json:"id" nullable:"false" doc:"Its id."`
	Name         Text       `json:"name" doc:"For people; need not be unique."`
	Mode         string     `json:"mode" enum:"parallel,sequential" doc:"All at once, or one after the other."`
	OnFailure    string     `json:"on_failure" enum:"continue,stop,skip" doc:"What the death of a member means for those that have not started."`
	Status       string     `json:"status" enum:"QUEUED,RUNNING,COMPLETED,PARTIAL,CANCELLED" doc:"Derived from its executions."`
	Size         int        `json:"size" doc:"How many executions it has."`
	Counts       GroupTally `json:"counts" doc:"How its executions stand."`
	Ending       Text       `json:"ending" enum:"cancel,stop,skip" doc:"What was decided about those that have not started. Null: nothing."`
	EndingReason Text       `json:"ending_reason" doc:"Why."`
	EndingBy     Text       `json:"ending_by" doc:"Who decided it. Null: Rota itself."`
	CreatedBy    Text       `json:"created_by" doc:"Who made it."`
	CreatedAt    Time       `json:"created_at" nullable:"false" doc:"When it was made."`
}

// GroupTally counts the executions of a group by how they stand.
type GroupTally struct {
	Queued    int `json:"queued" doc:"Their first attempt has not started."`
	Running   int `json:"running" doc:"All others that have not ended: running, or waiting for a retry."`
	Completed int `json:"completed" doc:"They have completed."`
	Dead      int `json:"dead" doc:"They failed, and will not be retried."`
	Skipped   int `json:"skipped" doc:"They were skipped."`
	Cancelled int `json:"cancelled" doc:"They were cancelled."`
}

// NewGroup shows a group.
func NewGroup(g *rota.Group) Group {
	return Group{
		ID: ID{g.ID}, Name: Text(g.Name), Mode: string(g.Mode), OnFailure: string(g.OnFailure), Status: string(g.Status()), Size: g.Size,
		Counts: GroupTally(g.Tally), Ending: Text(g.Ending), EndingReason: Text(g.EndingReason), EndingBy: Text(g.EndingBy),
		CreatedBy: Text(g.CreatedBy), CreatedAt: Time{g.CreatedAt},
	}
}

// GroupDetail is a group with its members.
type GroupDetail struct {
	Group
	Jobs []Job `json:"jobs" nullable:"false" doc:"The last attempt of each member, in the order of the group, as far as they fit a page; GET /executions?group=ID lists all."`
}

// GroupCancelled is what the cancelling of a group did at once.
type GroupCancelled struct {
	Group
	Cancelled int  `json:"cancelled" doc:"How many members were cancelled at once."`
	Stopping  int  `json:"stopping" doc:"How many run, and were asked to stop."`
	More      bool `json:"more" doc:"The others follow in a moment; none of them starts any more."`
}

// Reservation keeps a node from dispatching, for a direct run.
type Reservation struct {
	ID         ID     `json:"id" nullable:"false" doc:"Its id."`
	Status     string `json:"status" enum:"ACTIVE,RELEASED,EXPIRED" doc:"Whether it still holds."`
	Node       string `json:"node" doc:"The worker that it holds back."`
	ReservedBy Text   `json:"reserved_by" doc:"Who asked for it."`
	ReservedAt Time   `json:"reserved_at" doc:"Since when."`
	ExpiresAt  Time   `json:"expires_at" doc:"When it ends by itself."`
	EndedAt    Time   `json:"ended_at" doc:"When it ended."`
	JobID      ID     `json:"job_id" doc:"The direct run, once it has started."`
}

// NewReservation shows a reservation.
func NewReservation(r *rota.Reservation) Reservation {
	return Reservation{
		ID: ID{r.ID}, Status: string(r.Status), Node: r.Node, ReservedBy: Text(r.ReservedBy), ReservedAt: Time{r.ReservedAt},
		ExpiresAt: Time{r.ExpiresAt}, EndedAt: Time{r.EndedAt}, JobID: ID{r.JobID},
	}
}
