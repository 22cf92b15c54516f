package jobstate

// A Phase is the state of a job between its submission and its end.
type Phase uint8

// Values of Phase.
const (
	Waiting   Phase = iota // no planned GPUs, no pods
	Pending                // the start waits until other pods free the planned GPUs
	Queued                 // its start is written; Kueue has not admitted it
	Starting               // some workers do not run yet
	Running                // all workers run or have succeeded
	Resizing               // the number of workers differs from the plan
	Closing                // its first workers have succeeded; the others lack partners to train with
	Finishing              // a worker has succeeded: the job has a minute to end by itself
	Stopping               // its object runs an unplanned generation
	Draining               // pods of an earlier generation remain
	Fencing                // a start by the previous leader may still arrive
	Lost                   // the scheduler has not processed the loss yet
	Vacated                // the written plan still has GPUs for it
	Ended                  // completed, failed or left; may still have pods
)

var phaseNames = [...]string{
	"Waiting", "Pending", "Queued", "Starting", "Running", "Resizing", "Closing", "Finishing", "Stopping", "Draining", "Fencing", "Lost", "Vacated", "Ended",
}

func (p Phase) String() string { return phaseNames[p] }

// Over reports whether the job has lost its planned GPUs or has ended.
func (p Phase) Over() bool { return p >= Lost }

// An Event may move a job to another phase.
type Event uint8

// Values of Event.
const (
	Look    Event = iota // the cluster was observed: the facts decide
	Granted              // a plan with a new generation was committed
	Commit               // another plan was committed
	GiveUp               // the job has lost its GPUs, or cannot start
	Hear                 // the scheduler has processed the loss
	End                  // the object has ended, was deleted, or has opted out
)

var eventNames = [...]string{"Look", "Grant", "Commit", "GiveUp", "Hear", "End"}

func (e Event) String() string { return eventNames[e] }

// Facts are properties of a job, from the plan and from observation, as a set of bits.
type Facts uint32

// Values of Facts.
const (
	Holds   Facts = 1 << iota // the last plan has GPUs for the job
	Planned                   // the job's object is of the planned generation
	Started                   // pods of the planned generation may appear at any time
	Runs                      // started by the scheduler, and not suspended
	Suspended
	Leftover // pods of another generation exist, or its controller is still stopping it
	Late     // a start by the previous leader may still arrive
	Fits     // this start uses the planned nodes
	MayEnd   // first success less than a minute ago
	Outlived // successes are long ago, and other workers exist
	Lacking  // workers have not been created for a while
	Evicted  // Kueue keeps it stopped, as we requested
	TooLong  // the job's object has more workers than planned
	TooFew   // it has fewer
	Up       // all workers run or have succeeded
	Unseen   // the watches have not shown the last write
	Failed   // the last step of the job failed
	Waits    // a retry is not yet due
)

// An Action is the next change that the scheduler makes to a job's objects. There is at most one at a time.
type Action uint8

// Values of Action.
const (
	Nothing Action = iota
	Stop           // suspends the object, or deactivates its Workload in Kueue
	Fence          // sets the epoch on the object, so that writes of earlier leaders are rejected
	Start          // writes generation, size and nodes, and resumes the object, if there are free GPUs
	Resume         // does Start if no other job is on its nodes, else Fence
	Close          // sets the number of workers to those that have succeeded
	Ask            // reads the events about missing pods; writes nothing
	Readmit        // activates its Workload in Kueue
	Shrink         // lowers the number of workers
	Grow           // raises the number of workers, if there is room
	Pin            // binds pods to their nodes, if no other job is there
)

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
	{Runs | TooLong, 0, Resizing, Shrink},
	{Runs | TooFew, 0, Resizing, Grow},
	{Suspended, 0, Queued, Pin},
	{Up, 0, Running, Pin},
	{0, 0, Starting, Pin},
}

// Next returns the phase of a job after event ev, and the action to take, from its phase p and facts f.
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

func look(f Facts) (Phase, Action) {
	for _, r := range rows {
		if f&r.all == r.all && f&r.none == 0 {
			return r.to, r.do
		}
	}
	panic("the last row matches all facts")
}

func (p Phase) after(ev Event, holds bool) Phase {
	switch {
	case ev == Granted:
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
