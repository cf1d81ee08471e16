package rules

import "github.com/rotajobs/rota"

// leased returns the job whose run the reference proves to hold, nil if it
// holds none: another run, another token, or no run at all.
func leased(u *UnitOfWork, ref *rota.LeaseRef) *rota.Job {
	j := u.partOfJob(ref.JobID)
	if j == nil || j.Run == nil || j.Run.ID != ref.RunID || j.Run.Token != ref.Token {
		return nil
	}
	return j
}

// leaseExpired reports whether a run was closed because its lease expired.
func leaseExpired(run *rota.Run) bool { return run.ErrorCode == rota.CodeLeaseExpired }

func leaseAnswer(run *rota.Run) rota.LeaseAnswer {
	return rota.LeaseAnswer{
		RunID: run.ID, StaleAfter: run.StaleAfter, Cancel: !run.CancelAt.IsZero(), Reason: run.CancelReason,
	}
}

func leaseLost(ref *rota.LeaseRef) rota.LeaseAnswer {
	return rota.LeaseAnswer{RunID: ref.RunID, Code: rota.LeaseLost}
}

// addArtifacts appends new paths, up to the limit.
func addArtifacts(run *rota.Run, paths []string) {
	if len(paths) == 0 {
		return
	}
	seen := make(map[string]bool, len(run.Artifacts)+len(paths))
	for _, p := range run.Artifacts {
		seen[p] = true
	}
	artifacts := append([]string(nil), run.Artifacts...)
	for _, p := range paths {
		if !seen[p] && len(artifacts) < rota.ArtifactMax {
			seen[p] = true
			artifacts = append(artifacts, p)
		}
	}
	run.Artifacts = artifacts
}
