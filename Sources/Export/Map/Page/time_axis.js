// The axis of the time line: all fences and speed tests in order of time. Pauses of more than a minute are short on it.
class TimeAxis {
  constructor(table, tests) {
    [this.table, this.tests] = [table, tests];
    this.merge();
    this.stretch();
  }

  // `walk` has a fence's number, or ~n for the test at place n.
  merge() {
    const { table, tests } = this, walk = (this.walk = new Int32Array(table.order.length + tests.length));
    let [fence, test] = [0, 0];
    for (let place = 0; place < walk.length; place++) {
      const isTest = test < tests.length && (fence >= table.order.length || tests[test].time < table.entered[table.order[fence]]);
      walk[place] = isTest ? ~test++ : table.order[fence++];
    }
  }

  // Between two pauses, time passes as it did: a stretch begins at `from`, and is shifted by `shift`.
  stretch() {
    const { table } = this, pause = 20000;
    this.fences = new Float64Array(table.order.length);
    this.stretches = [];
    let [end, shift, fence] = [0, 0, 0];
    for (const step of this.walk) {
      const from = this.startOf(step);
      if (!this.stretches.length) this.stretches.push({ from, shift: shift = end = from });
      if (from - end > 3 * pause) this.stretches.push({ from, shift: shift += from - end - pause });
      if (step >= 0) this.fences[fence++] = from - shift;
      end = Math.max(end, step >= 0 ? from + (table.duration[step] || 0) : this.tests[~step].end);
    }
    this.length = Math.max(1, end - shift);
  }

  startOf(step) { return step >= 0 ? this.table.entered[step] : this.tests[~step].time; }

  item(place) {
    const step = this.walk[place];
    return step >= 0 ? new FenceItem(this.table.state, step) : this.tests[~step];
  }

  // The place of an item in the walk.
  placeOf(item) {
    if (item instanceof FenceItem) return this.table.rank[item.i] + countBelow(this.tests.length, (n) => this.tests[n].time < item.time);
    return this.tests.indexOf(item) + countBelow(this.table.order.length, (n) => this.table.entered[this.table.order[n]] <= item.time);
  }

  // The fences and the time between two places of the walk.
  range(first, last) {
    const before = (place) => this.walk[place] >= 0 ? this.table.rank[this.walk[place]] : place - ~this.walk[place];
    const to = before(last) - (this.walk[last] >= 0 ? 0 : 1);
    return { from: before(first), to, start: this.startOf(this.walk[first]), end: this.startOf(this.walk[last]) };
  }

  along(time) {
    const place = Math.max(0, countBelow(this.stretches.length, (n) => this.stretches[n].from <= time) - 1);
    const { from, shift } = this.stretches[place], next = this.stretches[place + 1];
    return Math.min(Math.max(time, from) - shift, next ? next.from - next.shift : this.length);
  }

  timeAt(along) {
    const place = countBelow(this.stretches.length, (n) => this.stretches[n].from - this.stretches[n].shift <= along);
    return along + this.stretches[Math.max(0, place - 1)].shift;
  }

  // Where stretches begin after pauses.
  get pauses() { return this.stretches.slice(1).map(({ from, shift }) => from - shift); }

  // The fences that begin at `along` or before.
  fencesUntil(along) { return countBelow(this.fences.length, (n) => this.fences[n] <= along); }

  // The last of them in the order of time, or else the first fence.
  fenceAt(along) { return Math.max(0, this.fencesUntil(along) - 1); }

  // The shown test that runs then, or else the fence.
  itemAt(along) {
    const test = this.table.state.tests.at(this.timeAt(along));
    return test ?? (this.fences.length ? new FenceItem(this.table.state, this.table.order[this.fenceAt(along)]) : null);
  }
}

// How many of `count` sorted things fulfil a condition that holds for the first ones.
function countBelow(count, holds) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1; else high = middle;
  }
  return low;
}
