/// Blocks of every element type with the hash (FNV-1a) of the floats that the reference implementation makes of them.
/// Written by `make_blocks.py`.
struct BlockFixture {
    let type: UInt32
    let hash: UInt64
    let blocks: String
}

// swift-format-ignore
let blockFixtures: [BlockFixture] = [
    .init(type: 1, hash: 0x034fadb8260eca57, blocks: "YL1St5u/KL1ev4azEr1XNAQx+7EJwU+4NapALx++pbfUu3i6Pjx2uiqoEzuruCavEi8VLOa83yxvPTC+4DqjLyK5AEAZOsy8xSydOAuydzlCrFc5wT1ouYAyarcTMMC8orhHsjE7lTxLvVu6LTn4v2m3Oq4HPYQ5PLXmtQG0GD4="),
    .init(type: 30, hash: 0x52d3b1be9a194e54, blocks: "pb+xPti/AsCbvma/Jz4PQFS/H79SPvw+NL5SvjM/BT+Ev6K9ED2Gv4U+W794P0U+tj0Xv/K9/7+Qv7k+CMBYP9+/QT9Yv0c/Bj7Ev58/uD+GvYy+I755v4w/Cr9RvUu/IL+jv6A/Hb53P1o8Mb+nvg+/AjzAvpm+sL9Ov9M/K78="),
    .init(type: 2, hash: 0x305dd1e9d71614f2, blocks: "rLJ10LhNFdcEtt+XZ5/GHCpFDrkfQ5GaliKl6BmfrHq0s1Ms"),
    .init(type: 3, hash: 0xfcbdad78ce5209f6, blocks: "RzeTsOmxAyDGFhv2NVBJweNKQXdQuG+8tjfLoCWqgmnlLp6iiesdFw=="),
    .init(type: 6, hash: 0x0d8d4cc61a4e3179, blocks: "D7cTL3OBPeVOk+C6dxRQ1/D/+hyRfRC4y5/R6RW0r7HoRFLNhU/FvaNhsOA="),
    .init(type: 7, hash: 0x46184e5b26ceb6a4, blocks: "HzaHvaxm8QtVm5IrTwLBBywDPm8K2SwFgriZO7VytUBNhOu0xkSiP2YIKPPwNwAw"),
    .init(type: 8, hash: 0xd8f1719d0155feee, blocks: "5TplHaEhia0hE48WxjFlBUPkq3RHh4FPgTbwkXMiN/Dw9Oc3W1jUia54k6QoMcTPm8X4b7RldKiZKmY32ilanN0Jqzw="),
    .init(type: 10, hash: 0x4ad0676e2b84a14a, blocks: "hu/1MMn0pDzi4DnN8hTZdyY1x/Wj2ormp1ag2vS3FgSvTvsM39cjlF5tslZ7CIjXVqhoUUQPOidRBdscL60kTdehaaDS6lAgDzgmzPxVeE3cq+q73M+pqeYQ4dwUeoFvZYIQzGOkE04jLw8hqJEZ1LbhUMQQ5C7Adm7z4Xk5iX9JHIEy6g3Elfkl2pJ9v9NiJh6Fo0JrXkN0VP2by9k2y4WOoxiBNkS5"),
    .init(type: 11, hash: 0x4071acb028ab7516, blocks: "9ddDqVsJZRURGNi4LaV8UPSgBd5m+kh3ajmY5O97YiMy31gpk8LQWBj31QaQYOl9DVGbpvQ6YakyBvU28aULKs5HT5CI2A6irLXe8etPUuVEFxthEE9lKTvVtUDTna3httfddKMtLP4YI0GosbxZmDif4RmrzTmXyABuYUlq/NdEjTsiMCsmMVkTlqmkFCyuOxef1HOzT4ZKfXlg1mFUTgxNKV/QpbOpaBceivHNxUvSBg43/YHztSg8Vj89O3o1ATNxVB5Thtq92Rl1wqI8mOs+3xTNQjFYpA2Huw=="),
    .init(type: 12, hash: 0xa5a0a2295821b819, blocks: "tztaOZgX2hN6PBQzq9NfwzLca+d/ZI4hH2F4gJzUGSIi2jzY0YV0IVSA+6NYm80U0cD5vH5UCehsfky7xTHtRNqZhdd47HBOG9T2wAUCMtUWm0B8yU2zntEk5toEoegv7jsFBYruT2+142suHr5I4uTx4t32ghhgtUkNT15V/LXT1Ax012PIGKO4nKnh9DG6VjsNLwj4xsZZIqmIqXNl0y9KnNmkb5is8N9bVS1Y6F4IrGK5mDJwEAVfIzvvhM6EawZa8XXk6MHCU8jQwsXaMMX3w0d1HyhED7fhv8ApP4lPpgw2RaiSv7ZCY6M+tYblLNEEj5mYMCD8wHjjKVUsL2z3EQ54dK7M5sVec3xe/6TeDzIhQqyRuIt4wmcjZSz/"),
    .init(type: 13, hash: 0x5b50ff6663dbcfc9, blocks: "UzwmNEuXJ6QKzaAyYtQ3L+/5wt+xOm7CJvBKl/AD+MG5NoxSmc2muDMkqjRPWd5x2ZuoJRBt0GCMmx9Xmht2a985+XmM64gIyl6fV/dcJdh6oupulsDYihNyVRrpazRjKMlE+ASdS4xxpS4F0mm9uFwLFMVma6dhZQgsCP/dpNRBr5pAKvNh69ibBV1Wwy5jzQsfy2PrRyNgTJEHB9OnwpZbAO165TH+WkPvICON4iUZPm04welxtnZAhen0ZEjTyQ/eX12aqusNDqRBo+yVH66nTG++2oAXlva7regm5fwDp3MbxcDjHXTEtS2cQkMtNH/uiI8dMJMDrFrzH/M+chHrQ+3gsxnAsa3X2hxcyDB1pE90EvAX6vGwXMDZFJo3lgWG2DV15MQEf3ol8nZOEWFpQEJ46TB5UqJRJxS+VQjjFzccAeZVUNO/yGN2We5PlpZ9cgdvQbhuEW8/mQZ8dA=="),
    .init(type: 14, hash: 0xe1577ab48054081b, blocks: "viT/qO2SHz9bF90P32jkZBedlL6Obyg6ZcfGg1rd+R/lacZshEF0CIQ+hvxOqNqAe/6Q1/GvhR/ccP4qhUgiLTy7npFaIkjcMWtzm4ZV93s9NSjxpjEHLx/OLyppPnyrjLuy2nq4D0QzJMRCOVvlhkS6NsdhmW9I2n3z0rsjI4Rvf3600JPnoBb2D3vF7kSJCQOw/o5PRmWBHujx6sVyyrFSsC6/mJnfZtIOYm9G6y0PXL5A6yDlIq1r5labIPocB+RGi/DZxvr/t9X2qyAM8Vs6Yz4kAQ07RIyardzcS/g8AHfT44kzNfbzg7yFaaiBnq88cVKgVH9JQaSLz4w66sepz8pvGWAKUeo7w7rUulD0gHdWHPGXmQWG9/tAef8QJTuJgx2UjjyNd+rpBWYOd06T6dqa2H/hv8GZGUM+zsKo3VfKZRA41F9+0Pz2d9XCnRFk1VMwLbVrCqBLvoCF2d1oTLOjQXWuUggg+Ze5VbxH7cRW+pI4TXzY8FOegOoq6BHJFPyeq8FNGZLIIVB0Ki6x42RsdWHrlftR1sGVvZjXox+y"),
    .init(type: 20, hash: 0x662e11bcd22d7c0a, blocks: "nDFVVK76QUvfELSDZ8SBR3YWRjbgYaIrNUUm910/2WF42EuT"),
    .init(type: 23, hash: 0xa822771d02928b53, blocks: "K6qhlTGLQs2RDCd2eHPts23uAM0NT8ikvnXE0aoVWPO8peU30En5bues3jlPPENqJI6TAK3ZLrHzw1E8Pi/G1buSD7jDisdVlLQxdA2lbqu9PL1qvnmDNSvNDgugNTyNtVlEiMhv6MTNtzshC3u4EPoYeryL21O6b6l2zP9h8wPfDMqncG1W9RA7e8N5vvp3DjqpeR3euGjQ2RMOhg9vuMNFwoks6vaFSSq17hvpGLurd4f1gbGyFcucovPGIBOQF1z8Zhc24I7YFWMJGQSf7oe9PaFWlyMKGO3l6fX863M2E2sej/6NoWDtnxGQwP2Ma1HfwsE4/BIFeX3K49Ddl2CJ/FIj5eE42DXrAtKCDzI="),
]
