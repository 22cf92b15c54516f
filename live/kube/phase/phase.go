// Package phase is the state machine of a job on Kubernetes: its phases, and the one function that moves it, Next.
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
// The next step depends on what is seen and planned, never on how the job came there: a new leader finds the same phase.
// Only Lost, Vacated and Ended are remembered; every other phase follows from the last look alone.
//
// Invariants, which the tests check for each phase, event and set of facts:
//   - Ended is final, and nothing is done to a job that has ended.
//   - Nothing is done while the watches do not show the last write.
//   - A job without planned GPUs is stopped or fenced, and nothing else.
//   - A job starts only when no pod of an earlier generation is left: GPUs are released before they are acquired.
//   - A generation that is not planned is stopped at once, except within the minute in which it may end by itself.
package phase

// A Phase says where a job is between its submission and its end.
type Phase uint8

// The phases. The zero value is Waiting.
const (
	Waiting   Phase = iota // the plan has no GPUs for it, and it has no pods
	Pending                // the plan has GPUs for it, and its start is not written: others are still on them
	Queued                 // its start is written, and Kueue has not admitted it
	Starting               // it was started, and not all of its workers run
	Running                // all of its workers run, or have succeeded
	Resizing               // its object has another number of workers than the plan
	Closing                // its first workers have succeeded, and the others have nobody to train with
	Finishing              // it is to stop, and a worker has succeeded: it has a minute to end by itself
	Stopping               // its object runs a generation that is not planned
	Draining               // it was stopped, and pods of an earlier generation are left
	Fencing                // a start that the previous leader wrote may still arrive
	Lost                   // it was given up, and the scheduler does not know yet
	Vacated                // the scheduler knows, and the written plan still has GPUs for it
	Ended                  // it has completed, failed, or left; its pods may still be there
)

var phaseNames = [...]string{
	"Waiting", "Pending", "Queued", "Starting", "Running", "Resizing", "Closing", "Finishing", "Stopping", "Draining", "Fencing", "Lost", "Vacated", "Ended",
}

// String returns the name of a phase.
func (p Phase) String() string { return phaseNames[p] }

// Over reports whether what the job held is no longer its own.
func (p Phase) Over() bool { return p >= Lost }

// An Event is what may move a job.
type Event uint8

// The events.
const (
	Look   Event = iota // the executor looks at the cluster: the facts decide
	Grant               // a plan with a new generation of the job was committed
	Commit              // another plan was committed
	GiveUp              // the job has lost its GPUs, or cannot be started
	Hear                // the scheduler has taken the event that it was given up
	End                 // the job's object has ended, is gone, or has opted out
)

var eventNames = [...]string{"Look", "Grant", "Commit", "GiveUp", "Hear", "End"}

// String returns the name of an event.
func (e Event) String() string { return eventNames[e] }

// Facts are what is planned for a job and seen of it, as a set of bits.
type Facts uint32

// The facts.
const (
	Holds     Facts = 1 << iota // the last plan has GPUs for the job
	Planned                     // its object is of the planned generation
	Started                     // the planned generation was started: pods may appear at any time
	Runs                        // its object is not suspended, and the scheduler has started it
	Suspended                   // its object is suspended
	Leftover                    // pods of another generation are left, or its controller still stops it
	Late                        // a start that the previous leader wrote may still arrive
	Fits                        // such a start is to the nodes that are planned
	MayEnd                      // a worker has succeeded less than a minute ago
	Outlived                    // workers have succeeded long ago, and the others are still there
	Lacking                     // workers have not been created for a while
	Evicted                     // Kueue has it stopped, as we asked
	TooMany                     // its object has more workers than planned
	TooFew                      // its object has fewer workers than planned
	Up                          // all workers run, or have succeeded
	Unseen                      // the watches do not show the last write yet
	Failed                      // the last step failed
	Waits                       // it is not yet time to try again
)

// An Action is the one thing that is done for a job at a time.
type Action uint8

// The actions, and what they write.
const (
	Nothing Action = iota
	Stop           // suspends the object, or deactivates its Workload in Kueue
	Fence          // stamps the object with the epoch, so that writes of earlier leaders fail
	Start          // writes generation, workers, nodes and resources, and resumes the object, if there is room
	Resume         // Start where no other job is on its nodes, or else Fence
	Close          // sets the number of workers to those that have succeeded
	Ask            // reads the events that say why pods are missing; writes nothing
	Readmit        // activates its Workload in Kueue
	Shrink         // lowers the number of workers
	Grow           // raises the number of workers, if there is room
	Pin            // sends its pods to their nodes, if no other job is there
)

// urgent reports whether an action does not wait until the job may be tried again.
func (a Action) urgent() bool { return a == Stop || a == Fence }

// rows decide a Look: the first row counts of which all facts hold and none of the others.
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

// look returns what the facts say.
func look(f Facts) (Phase, Action) {
	for _, r := range rows {
		if f&r.all == r.all && f&r.none == 0 {
			return r.to, r.do
		}
	}
	panic("the last row is of all facts")
}

// after returns the phase after an event that is no Look, of a job that has not ended.
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
