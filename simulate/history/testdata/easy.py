"""EASY backfilling on nodes, written apart from the Go code: the truth for its replay.

Usage: easy.py NODES GPUS LOAD JOBS SEED POLICY prints a history in the form of sacct -P.

Jobs of 1 GPU to all GPUs of four nodes arrive at random. The queue is first come, first served. A job of at most one
node gets the node with the fewest sufficient free GPUs, the first of equals; a larger job gets empty nodes, and for
its rest such a node. The first job that does not fit has a reservation: the earliest time, by the time limits of
running jobs, at which it fits. A later job starts if it fits now and the first job still fits at that time
(Lifka 1995). With the policy fifo no later job starts. The scheduler runs at every submission and end. Times are whole seconds.
"""
import heapq
import random
import sys
import time


def find(free, size, gpus):
    """Return {node: GPUs} for a job of so many GPUs, or None."""
    whole, rest = divmod(gpus, size)
    empty = [n for n, f in enumerate(free) if f == size][:whole]
    if len(empty) < whole:
        return None
    place = {n: size for n in empty}
    if rest:
        fit = [(f, n) for n, f in enumerate(free) if f >= rest and n not in place]
        if not fit:
            return None
        place[min(fit)[1]] = rest
    return place


def add(free, place, sign):
    for n, g in place.items():
        free[n] += sign * g


class Job:
    def __init__(self, number, submit, gpus, runs, limit):
        self.number, self.submit, self.gpus, self.runs, self.limit = number, submit, gpus, runs, limit
        self.start = self.place = None


def draw(nodes, size, load, count, seed):
    """Return jobs whose GPU time is the load times the capacity."""
    r = random.Random(seed)
    sizes = [g for g in (1, 1, 1, 2, 2, 4, 8, 8, 16, 32) if g <= 4 * size]
    jobs, work = [], 0
    for i in range(count):
        runs = int(min(6 * 3600, max(60, r.lognormvariate(7, 1.2))))
        gpus = r.choice(sizes)
        work += gpus * runs
        jobs.append(Job(1000 + i, r.random(), gpus, runs, 60 * (1 + int(runs * r.choice((1.0, 1.5, 3.0)) / 60))))
    span = work / (load * nodes * size)
    for j in jobs:
        j.submit = int(1767225600 + j.submit * span)
    return sorted(jobs, key=lambda j: (j.submit, j.number))


def reservation(free, size, running, head, now):
    """Return when the head fits by time limits, and the free GPUs then with the head in place."""
    later = list(free)
    ends = sorted(running, key=lambda j: (max(j.start + j.limit, now + 1), j.number))
    for i, j in enumerate(ends):
        add(later, j.place, 1)
        at = max(j.start + j.limit, now + 1)
        if i + 1 < len(ends) and max(ends[i + 1].start + ends[i + 1].limit, now + 1) == at:
            continue
        place = find(later, size, head.gpus)
        if place:
            add(later, place, -1)
            return at, later
    raise ValueError("a job never fits")


def schedule(free, size, running, queue, now):
    """Start the jobs that EASY starts now."""
    started, at, later = [], None, None
    for j in queue:
        if at is not None and now + j.limit > at:  # it still runs when the first job starts
            place = find([min(a, b) for a, b in zip(free, later)], size, j.gpus)
        else:
            place = find(free, size, j.gpus)
        if place is None:
            if sys.argv[6] == "fifo":
                break
            if at is None:
                at, later = reservation(free, size, running, j, now)
            continue
        if at is not None and now + j.limit > at:
            add(later, place, -1)
        add(free, place, -1)
        j.start, j.place = now, place
        running.append(j)
        started.append(j)
    return started


def simulate(jobs, nodes, size):
    free, running, queue, ends = [size] * nodes, [], [], []
    arrivals = list(reversed(jobs))
    while arrivals or ends:
        now = min([j.submit for j in arrivals[-1:]] + [end[0] for end in ends[:1]])
        while ends and ends[0][0] == now:
            j = heapq.heappop(ends)[2]
            running.remove(j)
            add(free, j.place, 1)
        while arrivals and arrivals[-1].submit == now:
            queue.append(arrivals.pop())
        for j in schedule(free, size, running, queue, now):
            queue.remove(j)
            heapq.heappush(ends, (now + j.runs, j.number, j))


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def main():
    nodes, size, load, count, seed = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
    jobs = draw(nodes, size, load, count, seed)
    simulate(jobs, nodes, size)
    print("JobID|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|Priority|State|ReqTRES|AllocTRES")
    for j in jobs:
        limit = "%d-%02d:%02d:00" % (j.limit // 86400, j.limit // 3600 % 24, j.limit // 60 % 60)
        gres = "gres/gpu:a100=%d,gres/gpu=%d,node=%d" % (j.gpus, j.gpus, len(j.place))
        print("|".join(map(str, (j.number, "u", "gpu", stamp(j.submit), stamp(j.submit), stamp(j.start), stamp(j.start + j.runs), j.runs,
                                 limit, 1, "COMPLETED", gres, gres))))


main()
