package jobstate

// A Phase is the state of a job between its submission and its end.
type Phase uint8

// Values of Phase.
const (
	waiting   Phase = iota // no planned GPUs, no pods
	pending                // the start waits until other pods free the planned GPUs
	queued                 // its start is written; Kueue has not admitted it
	starting               // some workers do not run yet
	running                // all workers run or have succeeded
	resizing               // the number of workers differs from the plan
	closing                // its first workers have succeeded; the others lack partners to train with
	finishing              // a worker has succeeded: the job has a minute to end by itself
	stopping               // its object runs an unplanned generation
	draining               // pods of an earlier generation remain
	fencing                // a start by the previous leader may still arrive
	Lost                   // the scheduler has not processed the loss yet
	Vacated                // the written plan still has GPUs for it
	ended                  // completed, failed or left; may still have pods
)

var phaseNames = [...]string{
	"Waiting", "Pending", "Queued", "Starting", "Running", "Resizing", "Closing", "Finishing", "Stopping", "Draining", "Fencing", "Lost", "Vacated", "Ended",
}

func (p Phase) String() string { return phaseNames[p] }

// over reports whether the job has lost its planned GPUs or has ended.
func (p Phase) over() bool { return p >= Lost }

// An event may move a job to another phase.
type event uint8

// Values of Event.
const (
	Look    event = iota // the cluster was observed: the facts decide
	Granted              // a plan with a new generation was committed
	Commit               // another plan was committed
	GiveUp               // the job has lost its GPUs, or cannot start
	hear                 // the scheduler has processed the loss
	End                  // the object has ended, was deleted, or has opted out
)

var eventNames = [...]string{"Look", "Grant", "Commit", "GiveUp", "Hear", "End"}

func (e event) String() string { return eventNames[e] }

// facts are properties of a job, from the plan and from observation, as a set of bits.
type facts uint32

// Values of Facts.
const (
	holds   facts = 1 << iota // the last plan has GPUs for the job
	Planned                   // the job's object is of the planned generation
	Started                   // pods of the planned generation may appear at any time
	Runs                      // started by the scheduler, and not suspended
	suspended
	leftover // pods of another generation exist, or its controller is still stopping it
	late     // a start by the previous leader may still arrive
	fits     // this start uses the planned nodes
	mayEnd   // first success less than a minute ago
	outlived // successes are long ago, and other workers exist
	lacking  // workers have not been created for a while
	evicted  // Kueue keeps it stopped, as we requested
	tooLong  // the job's object has more workers than planned
	tooFew   // it has fewer
	up       // all workers run or have succeeded
	unseen   // the watches have not shown the last write
	failed   // the last step of the job failed
	waits    // a retry is not yet due
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
	all, none facts
	to        Phase
	do        Action
}{
	{Runs | mayEnd, Planned, finishing, Nothing},
	{Runs, Planned, stopping, Stop},
	{late | fits, Started | leftover | waits, fencing, Resume},
	{late, Started, fencing, Fence},
	{leftover, 0, draining, Nothing},
	{0, holds, waiting, Nothing},
	{0, Started, pending, Start},
	{Runs | outlived, 0, closing, Close},
	{lacking, 0, starting, Ask},
	{evicted, 0, queued, Readmit},
	{Runs | tooLong, 0, resizing, Shrink},
	{Runs | tooFew, 0, resizing, Grow},
	{suspended, 0, queued, Pin},
	{up, 0, running, Pin},
	{0, 0, starting, Pin},
}

// next returns the phase of a job after event ev, and the action to take, from its phase p and facts f.
func next(p Phase, ev event, f facts) (Phase, Action) {
	switch {
	case p == ended || ev == End:
		return ended, Nothing
	case ev != Look:
		return p.after(ev, f&holds != 0), Nothing
	case f&unseen != 0:
		return p, Nothing
	case p.over():
		f &^= holds | Planned | Started | fits
	}
	to, do := look(f)
	if p.over() {
		to = p
	}
	if f&waits != 0 && (f&failed != 0 || !do.urgent()) {
		do = Nothing
	}
	return to, do
}

func look(f facts) (Phase, Action) {
	for _, r := range rows {
		if f&r.all == r.all && f&r.none == 0 {
			return r.to, r.do
		}
	}
	panic("the last row matches all facts")
}

func (p Phase) after(ev event, holds bool) Phase {
	switch {
	case ev == Granted:
		return pending
	case ev == Commit && p == Vacated, ev == hear && p == Lost && !holds:
		return waiting
	case ev == GiveUp && holds && !p.over():
		return Lost
	case ev == hear && holds:
		return Vacated
	}
	return p
}
