package rules

import "github.com/rotajobs/rota"

// PutJob adds a job as stored, with its run. A decided job takes precedence,
// and so does a job that was loaded with its params.
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

// PutLocked adds a job that another transaction has locked. It cannot be
// changed now.
func (u *UnitOfWork) PutLocked(j *rota.Job) {
	u.PutJob(j)
	if u.lockedByOthers == nil {
		u.lockedByOthers = map[rota.ID]bool{}
	}
	u.lockedByOthers[j.ID] = true
}

// PutRetry sets the job that retries another.
func (u *UnitOfWork) PutRetry(of, id rota.ID) { u.retries[of] = id }

// PutChain sets the last job of a chain.
func (u *UnitOfWork) PutChain(id, last rota.ID) { u.chains[id] = last }

// PutKey adds the record of a unique key.
func (u *UnitOfWork) PutKey(k UniqueKeyRecord) { u.keys.put(k.Key, &k) }

// PutPlan sets the first attempt that holds a plan key.
func (u *UnitOfWork) PutPlan(p Plan, id rota.ID) { u.plans[p] = id }

// PutAudit notes that an audit entry exists.
func (u *UnitOfWork) PutAudit(id rota.ID) { u.auditIDs[id] = true }

// PutTail offers the last QUEUED job of a priority. It reports false if that
// job has left the priority in this transaction; the store then offers the job
// before it.
func (u *UnitOfWork) PutTail(priority int, id rota.ID, position int64) bool {
	if r := u.jobs[id]; r != nil && r.is != nil && !isQueuedAt(r.is, priority) {
		return false
	}
	u.tails[priority] = u.tails[priority].or(position)
	return true
}

// PutClaimedBefore adds a job that an earlier sending of the claim took.
func (u *UnitOfWork) PutClaimedBefore(j *rota.Job) { u.addResult(&u.claimedBefore, j) }

// PutClaimRepeated notes that an earlier sending of the claim took jobs, even
// if none of them exists any more.
func (u *UnitOfWork) PutClaimRepeated() { u.claimRepeated = true }

// PutHead adds a job of the dispatch order.
func (u *UnitOfWork) PutHead(j *rota.Job) { u.addResult(&u.heads, j) }

// PutMoreHeads notes that ready jobs may follow the heads that were found,
// because other transactions took some of the heads.
func (u *UnitOfWork) PutMoreHeads() { u.moreHeads = true }

// PutDue adds a job that is due.
func (u *UnitOfWork) PutDue(j *rota.Job) { u.addResult(&u.due, j) }

// PutStale adds a job whose lease is stale.
func (u *UnitOfWork) PutStale(j *rota.Job) { u.addResult(&u.stale, j) }

// PutUnsettled adds a RUNNING job that was not settled.
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
