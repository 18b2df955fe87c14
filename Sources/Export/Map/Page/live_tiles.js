// The tiles that the service of the live page serves.
class ServedTiles {
  constructor(about) { Object.assign(this, about); }

  async bytes(key) {
    const answer = await fetch(`tiles/${key}`);
    return answer.status === 200 ? new Uint8Array(await answer.arrayBuffer()) : null;
  }
}
