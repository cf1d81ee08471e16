package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// windows are the sizes of the stretch around a target without a free position,
// smallest first. Renumbering takes the first size with enough free positions.
var windows = []int{8, 64, 512, rota.OrderMax/2 - 1}

// openGap renumbers jobs so that the moved job fits next to the anchor. It
// renumbers a priority of up to OrderMax jobs as a whole to 100, 200, 300 …,
// and of a longer one as much as it takes to find free positions.
func openGap(u *UnitOfWork, c *rota.Move, anchor *rota.Job) *rota.Error {
	r := gapAround(u, c, anchor)
	step := r.interval()
	if step < 1 {
		return &rota.Error{
			Code: rota.Conflict, Field: "anchor", Reason: "there is no free position next to job " + anchor.ID.String(),
			Hint: "normalise its priority, then repeat the move",
		}
	}
	renumber(u, r.ids, r.low, step)
	return nil
}

// gap is a stretch of the order, with the moved job in its new place, and the
// positions that bound it.
type gap struct {
	ids       []rota.ID
	low, high int64
	open      bool // no job follows, so high does not bind
}

func (r gap) interval() int64 {
	if r.open {
		return rota.PositionGap
	}
	return min(rota.PositionGap, (r.high-r.low)/int64(len(r.ids)+1))
}

func gapAround(u *UnitOfWork, c *rota.Move, anchor *rota.Job) gap {
	all := OrderPages.get(u, OrderPage{Priority: anchor.Priority, Limit: rota.OrderMax + 1})
	if len(all) <= rota.OrderMax {
		return gap{ids: withMoved(u, c, all), open: true}
	}
	for _, size := range windows {
		if r := window(u, c, anchor, size); r.interval() >= 1 {
			return r
		}
	}
	return gap{}
}

// window returns the gap of size jobs on both sides of the anchor.
func window(u *UnitOfWork, c *rota.Move, anchor *rota.Job, size int) gap {
	behind := OrderPage{Priority: anchor.Priority, From: anchor.ID, Back: true, Limit: size + 1}
	OrderPages.want(u, behind)
	ahead := OrderPages.get(u, OrderPage{Priority: anchor.Priority, From: anchor.ID, Limit: size + 1})
	back := OrderPages.get(u, behind)
	r := gap{open: len(ahead) <= size}
	if !r.open {
		r.high = u.partOfJob(ahead[size]).Position
		ahead = ahead[:size]
	}
	if len(back) > size {
		r.low = u.partOfJob(back[size]).Position
		back = back[:size]
	} else {
		r.low = u.partOfJob(anchor.ID).Position - int64(len(back)+2)*rota.PositionGap
	}
	ids := append(slices.Clone(back), anchor.ID)
	slices.Reverse(ids[:len(back)])
	r.ids = withMoved(u, c, append(ids, ahead...))
	return r
}

// withMoved returns the order with the moved job next to its anchor.
func withMoved(u *UnitOfWork, c *rota.Move, ids []rota.ID) []rota.ID {
	order := make([]rota.ID, 0, len(ids)+1)
	for _, id := range movable(u, ids) {
		switch {
		case id == c.JobID:
		case id != c.Anchor:
			order = append(order, id)
		case c.Place == rota.PlaceBefore:
			order = append(order, c.JobID, id)
		default:
			order = append(order, id, c.JobID)
		}
	}
	return order
}

// renumber gives jobs the positions low+step, low+2·step … and counts those
// whose position changed.
func renumber(u *UnitOfWork, ids []rota.ID, low, step int64) (changed int) {
	for i, id := range ids {
		position := low + int64(i+1)*step
		if u.partOfJob(id).Position != position {
			u.edit(id).Position = position
			changed++
		}
	}
	return changed
}

// movable returns the jobs that may be renumbered. Jobs of internal types keep
// their position.
func movable(u *UnitOfWork, ids []rota.ID) []rota.ID {
	if !slices.ContainsFunc(ids, func(id rota.ID) bool { return rota.InternalType(u.partOfJob(id).Type) }) {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id rota.ID) bool { return rota.InternalType(u.partOfJob(id).Type) })
}
