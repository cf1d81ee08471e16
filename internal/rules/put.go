package rules

import "github.com/rotajobs/rota"

// PutJob brings in a job as the store has it, with its run. It gives way to
// what was decided about the job, and to the job with its params.
func (u *UnitOfWork) PutJob(j *rota.Job) {
	r := u.jobs[j.ID]
	if r == nil {
		r := u.newRow()
		r.was, r.is = j, j
		u.jobs[j.ID] = r
		return
	}
	if !r.touched && (r.is == nil || r.is.Params == nil) {
		r.was, r.is = j, j
	}
}

// PutLocked brings in a job that somebody has locked: it cannot be changed now.
func (u *UnitOfWork) PutLocked(j *rota.Job) {
	u.PutJob(j)
	if u.lockedByOthers == nil {
		u.lockedByOthers = map[rota.ID]bool{}
	}
	u.lockedByOthers[j.ID] = true
}

// PutRetry says which job retries another.
func (u *UnitOfWork) PutRetry(of, id rota.ID) { u.retries[of] = id }

// PutChain says which job is the last of a chain.
func (u *UnitOfWork) PutChain(id, last rota.ID) { u.chains[id] = last }

// PutKey brings in a unique key's record.
func (u *UnitOfWork) PutKey(k KeyRecord) { u.keys.put(k.Key, &k) }

// PutPlan says which first attempt holds a plan key.
func (u *UnitOfWork) PutPlan(p Plan, id rota.ID) { u.plans[p] = id }

// PutAudit says that an audit entry stands.
func (u *UnitOfWork) PutAudit(id rota.ID) { u.auditIDs[id] = true }

// PutTail offers the last QUEUED job of a priority. It reports false if that
// job has left its place in this world: the store then offers the one before.
func (u *UnitOfWork) PutTail(priority int, id rota.ID, position int64) bool {
	if r := u.jobs[id]; r != nil && r.is != nil && !isQueuedAt(r.is, priority) {
		return false
	}
	u.tails[priority] = u.tails[priority].or(position)
	return true
}

// PutClaimedBefore adds a job that an earlier sending of the claim took.
func (u *UnitOfWork) PutClaimedBefore(j *rota.Job) { u.addResult(&u.claimedBefore, j) }

// PutClaimRepeated notes that the claim took jobs when it was sent before, also where none
// of them is to be found.
func (u *UnitOfWork) PutClaimRepeated() { u.claimRepeated = true }

// PutHead adds a job of the claim order.
func (u *UnitOfWork) PutHead(j *rota.Job) { u.addResult(&u.heads, j) }

// PutMoreHeads notes that there may be others behind the heads that were found,
// which others have taken meanwhile.
func (u *UnitOfWork) PutMoreHeads() { u.moreHeads = true }

// PutDue adds a job that is due.
func (u *UnitOfWork) PutDue(j *rota.Job) { u.addResult(&u.due, j) }

// PutStale adds a job whose lease is stale.
func (u *UnitOfWork) PutStale(j *rota.Job) { u.addResult(&u.stale, j) }

// PutUnsettled adds a job that nobody settled.
func (u *UnitOfWork) PutUnsettled(j *rota.Job) { u.addResult(&u.unsettled, j) }

// PutPage adds a job to a page of the order.
func (u *UnitOfWork) PutPage(p OrderPage, j *rota.Job) {
	u.PutJob(j)
	u.pages[p] = append(u.pages[p], j.ID)
}

func (u *UnitOfWork) addResult(f *orderResult, j *rota.Job) {
	u.PutJob(j)
	f.ids = append(f.ids, j.ID)
}
