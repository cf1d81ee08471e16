package httpapi

import (
	"encoding/binary"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (a *server) queueRoutes() {
	get(a, operation{
		method: "GET", path: "/queue", id: "list-queue", scope: readScope, tag: "Jobs", summary: "List the queue",
		description: "Ready jobs in dispatch order.", query: pageParams(), response: api.List[api.Job]{}, errors: []int{409},
	}, listQueue)
}

func listQueue(c *call) (reply, error) {
	return rowList[*rota.Job, api.Job]{
		kind: cursorQueue, show: api.NewJob, size: jobSize, position: queuePosition,
		read: func(after []byte, n int) ([]*rota.Job, error) { return c.queueAfter(jobAt(after), n) },
	}.page(c)
}

// queuePosition encodes the whole position of a job, so that the list can continue when the job itself
// has left the queue.
func queuePosition(j *rota.Job) []byte {
	position := append([]byte{}, j.ID[:]...)
	position = binary.BigEndian.AppendUint64(position, uint64(j.Priority))
	position = binary.BigEndian.AppendUint64(position, uint64(j.Position))
	return binary.BigEndian.AppendUint64(position, uint64(j.CreatedAt.UnixMicro()))
}

// jobAt returns a position as a job at that position; nil: the head.
func jobAt(position []byte) *rota.Job {
	if position == nil {
		return nil
	}
	number := func(at int) int64 { return int64(binary.BigEndian.Uint64(position[at:])) }
	return &rota.Job{
		ID: rota.ID(position[:16]), Priority: int(number(16)), Position: number(24), CreatedAt: time.UnixMicro(number(32)).UTC(),
	}
}

// queueScanMax is the number of rows searched for the position of a job that has left the queue.
const queueScanMax = 100_000

// queueAfter lists the queue after a position. If the job at the position has left, most jobs before
// it have too, so the position is searched from the head.
func (c *call) queueAfter(after *rota.Job, limit int) ([]*rota.Job, error) {
	if after == nil {
		return c.Store.Queue(c.ctx, rota.ID{}, limit)
	}
	jobs, err := c.Store.Queue(c.ctx, after.ID, limit)
	if rota.CodeOf(err) != rota.NotFound {
		return jobs, err
	}
	last := rota.ID{}
	for seen := 0; seen < queueScanMax; {
		page, err := c.Store.Queue(c.ctx, last, readRows)
		if rota.CodeOf(err) == rota.NotFound { // the job left meanwhile
			last = rota.ID{}
			seen += rota.PageMax
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, j := range page {
			if after.Before(j) {
				return c.fillQueuePage(page[i:], limit)
			}
		}
		if len(page) < readRows {
			return nil, nil
		}
		seen += len(page)
		last = page[len(page)-1].ID
	}
	return nil, problem.New(rota.Conflict, "cursor", "list the queue from its head", "the job at the end of the last page has left the queue")
}

// fillQueuePage fills the rest of a page.
func (c *call) fillQueuePage(partial []*rota.Job, limit int) ([]*rota.Job, error) {
	if len(partial) >= limit {
		return partial[:limit], nil
	}
	more, err := c.queueAfter(partial[len(partial)-1], limit-len(partial))
	return append(partial, more...), err
}
