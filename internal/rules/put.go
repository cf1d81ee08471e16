package rules

import "github.com/rotajobs/rota"

// PutJob brings in a job as the store has it, with its run. It gives way to
// what was decided about the job, and to the job with its params.
func (w *UnitOfWork) PutJob(j *rota.Job) {
	r := w.jobs[j.ID]
	if r == nil {
		r := w.newRow()
		r.was, r.is = j, j
		w.jobs[j.ID] = r
		return
	}
	if !r.touched && (r.is == nil || r.is.Params == nil) {
		r.was, r.is = j, j
	}
}

// PutLocked brings in a job that somebody has locked: it cannot be changed now.
func (w *UnitOfWork) PutLocked(j *rota.Job) {
	w.PutJob(j)
	if w.busy == nil {
		w.busy = map[rota.ID]bool{}
	}
	w.busy[j.ID] = true
}

// PutRetry says which job retries another.
func (w *UnitOfWork) PutRetry(of, id rota.ID) { w.retries[of] = id }

// PutChain says which job is the last of a chain.
func (w *UnitOfWork) PutChain(id, last rota.ID) { w.chains[id] = last }

// PutKey brings in a unique key's record.
func (w *UnitOfWork) PutKey(k KeyRecord) { w.keys.put(k.Key, &k) }

// PutPlan says which first attempt holds a plan key.
func (w *UnitOfWork) PutPlan(p Plan, id rota.ID) { w.plans[p] = id }

// PutAudit says that an audit entry stands.
func (w *UnitOfWork) PutAudit(id rota.ID) { w.audits[id] = true }

// PutTail offers the last QUEUED job of a priority. It reports false if that
// job has left its place in this world: the store then offers the one before.
func (w *UnitOfWork) PutTail(priority int, id rota.ID, position int64) bool {
	if r := w.jobs[id]; r != nil && r.is != nil && !standsAt(r.is, priority) {
		return false
	}
	w.tails[priority] = w.tails[priority].or(position)
	return true
}

// PutClaimedBefore adds a job that an earlier sending of the claim took.
func (w *UnitOfWork) PutClaimedBefore(j *rota.Job) { w.find(&w.taken, j) }

// PutClaimRepeated notes that the claim took jobs when it was sent before, also where none
// of them is to be found.
func (w *UnitOfWork) PutClaimRepeated() { w.took = true }

// PutHead adds a job of the claim order.
func (w *UnitOfWork) PutHead(j *rota.Job) { w.find(&w.heads, j) }

// PutMoreHeads notes that there may be others behind the heads that were found,
// which others have taken meanwhile.
func (w *UnitOfWork) PutMoreHeads() { w.moreHeads = true }

// PutDue adds a job that is due.
func (w *UnitOfWork) PutDue(j *rota.Job) { w.find(&w.due, j) }

// PutStale adds a job whose lease is stale.
func (w *UnitOfWork) PutStale(j *rota.Job) { w.find(&w.stale, j) }

// PutUnsettled adds a job that nobody settled.
func (w *UnitOfWork) PutUnsettled(j *rota.Job) { w.find(&w.left, j) }

// PutPage adds a job to a page of the order.
func (w *UnitOfWork) PutPage(p OrderPage, j *rota.Job) {
	w.PutJob(j)
	w.pages[p] = append(w.pages[p], j.ID)
}

func (w *UnitOfWork) find(f *finding, j *rota.Job) {
	w.PutJob(j)
	f.ids = append(f.ids, j.ID)
}
