// Package phase is the state machine of a job on Kubernetes: its phases, and the function Next that moves it.
//
//	                     Grant                  start is written
//	Waiting ────────────────────────▶ Pending ──────────────────▶ Queued ─▶ Starting ◀─▶ Running
//	   ▲                                                                        ▲             ▲
//	   │ its pods are gone                                     grown or shrunk  ▼             ▼
//	Draining ◀── Stopping ◀── a plan without it, or with a new generation ── Resizing      Closing
//
//	any, with GPUs ── GiveUp ─▶ Lost ── Hear ─▶ Vacated ── Commit ─▶ Waiting
//	any ── End ─▶ Ended
//
// The next step depends only on the plan and the observation, not on the history: a new leader computes the same
// phase. Only Lost, Vacated and Ended are stored; every other phase is computed at each Look.
//
// Invariants, which the tests check for each phase, event and set of facts:
//   - Ended is final, and a job that has ended is not changed.
//   - Nothing is done while the watches lack the last write.
//   - A job without planned GPUs is only stopped or fenced.
//   - A job starts only when no pod of an earlier generation exists: GPUs are released before they are acquired.
//   - An unplanned generation is stopped at once, except during the minute in which it may end by itself.
package phase

// A Phase is the state of a job between its submission and its end.
type Phase uint8

// Values of Phase. The zero value is Waiting.
const (
	Waiting   Phase = iota // the plan has no GPUs for it, and it has no pods
	Pending                // the plan has GPUs for it; its start is not written, because other pods may still use them
	Queued                 // its start is written; Kueue has not admitted it
	Starting               // it was started; some workers do not run yet
	Running                // all workers run or have succeeded
	Resizing               // its object has another number of workers than the plan
	Closing                // its first workers have succeeded; the others have no partners to train with
	Finishing              // it has to stop, but a worker has succeeded: it has a minute to end by itself
	Stopping               // its object runs an unplanned generation
	Draining               // it was stopped; pods of an earlier generation remain
	Fencing                // a start by the previous leader may still arrive
	Lost                   // it has lost its GPUs; the scheduler has not taken that event
	Vacated                // the scheduler has taken it; the written plan still has GPUs for it
	Ended                  // it has completed, failed or left; it may still have pods
)

var phaseNames = [...]string{
	"Waiting", "Pending", "Queued", "Starting", "Running", "Resizing", "Closing", "Finishing", "Stopping", "Draining", "Fencing", "Lost", "Vacated", "Ended",
}

// String returns the name of a phase.
func (p Phase) String() string { return phaseNames[p] }

// Over reports whether the job no longer owns its planned GPUs.
func (p Phase) Over() bool { return p >= Lost }

// An Event may move a job to another phase.
type Event uint8

// Values of Event.
const (
	Look   Event = iota // the executor has observed the cluster: the facts decide
	Grant               // a plan with a new generation of the job was committed
	Commit              // another plan was committed
	GiveUp              // the job has lost its GPUs, or cannot start
	Hear                // the scheduler has taken the event of the loss
	End                 // the job's object has ended, was deleted, or has opted out
)

var eventNames = [...]string{"Look", "Grant", "Commit", "GiveUp", "Hear", "End"}

// String returns the name of an event.
func (e Event) String() string { return eventNames[e] }

// Facts are what is planned and observed of a job, as a set of bits.
type Facts uint32

// Values of Facts.
const (
	Holds     Facts = 1 << iota // the last plan has GPUs for the job
	Planned                     // its object is of the planned generation
	Started                     // the planned generation was started: pods may appear at any time
	Runs                        // the scheduler has started its object, which is not suspended
	Suspended                   // its object is suspended
	Leftover                    // pods of another generation exist, or its controller still stops it
	Late                        // a start by the previous leader may still arrive
	Fits                        // that start uses the planned nodes
	MayEnd                      // a worker has succeeded less than a minute ago
	Outlived                    // workers have succeeded long ago, and others still exist
	Lacking                     // workers have not been created for a while
	Evicted                     // Kueue keeps it stopped, as we requested
	TooMany                     // its object has more workers than planned
	TooFew                      // its object has fewer workers than planned
	Up                          // all workers run or have succeeded
	Unseen                      // the watches lack the last write
	Failed                      // the last step failed
	Waits                       // a retry is not yet due
)

// An Action is the next change of a job; one at a time.
type Action uint8

// Values of Action, and what they write.
const (
	Nothing Action = iota
	Stop           // suspends the object, or deactivates its Workload in Kueue
	Fence          // sets the epoch on the object, so that writes of earlier leaders fail
	Start          // writes generation, workers, nodes and resources, and resumes the object, if there is room
	Resume         // Start if no other job is on its nodes, else Fence
	Close          // sets the number of workers to those that have succeeded
	Ask            // reads the events that explain missing pods; writes nothing
	Readmit        // activates its Workload in Kueue
	Shrink         // lowers the number of workers
	Grow           // raises the number of workers, if there is room
	Pin            // assigns its pods to their nodes, if no other job is there
)

// urgent reports whether an action ignores the retry delay.
func (a Action) urgent() bool { return a == Stop || a == Fence }

// rows decide a Look: the first row applies whose all facts hold and none of whose none facts hold.
var rows = [...]struct {
	all, none Facts
	to        Phase
	do        Action
}{
	{Runs | MayEnd, Planned, Finishing, Nothing},
	{Runs, Planned, Stopping, Stop},
	{Late | Fits, Started | Leftover | Waits, Fencing, Resume},
	{Late, Started, Fencing, Fence},
	{Leftover, 0, Draining, Nothing},
	{0, Holds, Waiting, Nothing},
	{0, Started, Pending, Start},
	{Runs | Outlived, 0, Closing, Close},
	{Lacking, 0, Starting, Ask},
	{Evicted, 0, Queued, Readmit},
	{Runs | TooMany, 0, Resizing, Shrink},
	{Runs | TooFew, 0, Resizing, Grow},
	{Suspended, 0, Queued, Pin},
	{Up, 0, Running, Pin},
	{0, 0, Starting, Pin},
}

// Next returns the phase of a job after an event, and the action that is due.
func Next(p Phase, ev Event, f Facts) (Phase, Action) {
	switch {
	case p == Ended || ev == End:
		return Ended, Nothing
	case ev != Look:
		return p.after(ev, f&Holds != 0), Nothing
	case f&Unseen != 0:
		return p, Nothing
	case p.Over():
		f &^= Holds | Planned | Started | Fits
	}
	to, do := look(f)
	if p.Over() {
		to = p
	}
	if f&Waits != 0 && (f&Failed != 0 || !do.urgent()) {
		do = Nothing
	}
	return to, do
}

// look returns the phase and action of the first row that applies.
func look(f Facts) (Phase, Action) {
	for _, r := range rows {
		if f&r.all == r.all && f&r.none == 0 {
			return r.to, r.do
		}
	}
	panic("the last row matches all facts")
}

// after returns the phase after an event other than Look, of a job that has not ended.
func (p Phase) after(ev Event, holds bool) Phase {
	switch {
	case ev == Grant:
		return Pending
	case ev == Commit && p == Vacated, ev == Hear && p == Lost && !holds:
		return Waiting
	case ev == GiveUp && holds && !p.Over():
		return Lost
	case ev == Hear && holds:
		return Vacated
	}
	return p
}
