package api

import (
	"github.com/rotajobs/rota"
)

// Group is a set of jobs that belong together.
type Group struct {
	ID           ID         `json:"id" nullable:"false" doc:"Id of the group."`
	Name         Text       `json:"name" doc:"Name for people; not necessarily unique."`
	Mode         string     `json:"mode" enum:"parallel,sequential" doc:"Whether members run at the same time or one after the other."`
	OnFailure    string     `json:"on_failure" enum:"continue,stop,skip" doc:"Effect of a dead member on members that have not started."`
	Status       string     `json:"status" enum:"QUEUED,RUNNING,COMPLETED,PARTIAL,CANCELLED" doc:"Status derived from its executions."`
	Size         int        `json:"size" doc:"Number of executions."`
	Counts       GroupTally `json:"counts" doc:"Executions by state."`
	Ending       Text       `json:"ending" enum:"cancel,stop,skip" doc:"Decision about members that have not started. Null: none."`
	EndingReason Text       `json:"ending_reason" doc:"Reason of that decision."`
	EndingBy     Text       `json:"ending_by" doc:"Actor that made that decision. Null: Rota."`
	CreatedBy    Text       `json:"created_by" doc:"Actor that created it."`
	CreatedAt    Time       `json:"created_at" nullable:"false" doc:"Time of its creation."`
}

// GroupTally counts the executions of a group by state.
type GroupTally struct {
	Queued    int `json:"queued" doc:"Executions whose first attempt has not started."`
	Running   int `json:"running" doc:"Other executions that have not ended: running, or waiting for a retry."`
	Completed int `json:"completed" doc:"Completed executions."`
	Dead      int `json:"dead" doc:"Executions that failed and are not retried."`
	Skipped   int `json:"skipped" doc:"Skipped executions."`
	Cancelled int `json:"cancelled" doc:"Cancelled executions."`
}

// NewGroup converts a group.
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
	Jobs []Job `json:"jobs" nullable:"false" doc:"Last attempt of each member, in group order, up to one page; GET /executions?group=ID lists all."`
}

// GroupCancelled is the immediate result of cancelling a group.
type GroupCancelled struct {
	Group
	Cancelled int  `json:"cancelled" doc:"Members cancelled so far."`
	Stopping  int  `json:"stopping" doc:"Running members that were asked to stop."`
	More      bool `json:"more" doc:"Whether the server cancels further members within moments; none of them starts."`
}

// Reservation keeps a node from dispatching queued jobs, for a direct run.
type Reservation struct {
	ID         ID     `json:"id" nullable:"false" doc:"Id of the reservation."`
	Status     string `json:"status" enum:"ACTIVE,RELEASED,EXPIRED" doc:"Whether it is in effect."`
	Node       string `json:"node" doc:"Worker that it reserves."`
	ReservedBy Text   `json:"reserved_by" doc:"Actor that requested it."`
	ReservedAt Time   `json:"reserved_at" doc:"Time it took effect."`
	ExpiresAt  Time   `json:"expires_at" doc:"Time it expires."`
	EndedAt    Time   `json:"ended_at" doc:"Time it ended."`
	JobID      ID     `json:"job_id" doc:"Job of the direct run, once started."`
}

// NewReservation converts a reservation.
func NewReservation(r *rota.Reservation) Reservation {
	return Reservation{
		ID: ID{r.ID}, Status: string(r.Status), Node: r.Node, ReservedBy: Text(r.ReservedBy), ReservedAt: Time{r.ReservedAt},
		ExpiresAt: Time{r.ExpiresAt}, EndedAt: Time{r.EndedAt}, JobID: ID{r.JobID},
	}
}

// GroupRequest submits a group of jobs, atomically.
type GroupRequest struct {
	Name      string       `json:"name,omitempty" doc:"Name for people; not necessarily unique."`
	Mode      string       `json:"mode,omitempty" enum:"parallel,sequential" default:"parallel" doc:"Whether members run at the same time or one after the other."`
	OnFailure string       `json:"on_failure,omitempty" enum:"continue,stop,skip" default:"continue" doc:"Effect of a dead member on members that have not started."`
	Jobs      []JobRequest `json:"jobs" doc:"Jobs of the group in order, 1 to 10,000."`
}
